import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The CustomResourceDefinition of LLMServices. */
export const LLM_SERVICE_CRD = parse(
  readFileSync(join(import.meta.dirname, 'llmservice.crd.yaml'), 'utf8'),
) as object
