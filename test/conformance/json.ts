/** A JSON object whose form is what is being looked at. */
// biome-ignore lint/suspicious/noExplicitAny: probes look into answers of any form
export type Json = any
