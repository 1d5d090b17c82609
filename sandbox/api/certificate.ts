import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

/** A key and the certificate that goes with it, in PEM. The certificate is its own authority. */
export interface Certificate {
  key: string
  cert: string
}

/**
 * Makes a self-signed certificate for 127.0.0.1 and localhost, valid from an hour before `now` for a year.
 * kubectl and helm drop the token of a kubeconfig whose server is not https, so the sandbox needs one, and
 * Node can read certificates but not make them: the few DER structures are written here (RFC 5280).
 */
export function selfSigned(now: number): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid(commonName), text('swiss-sandbox'))))
  const serial = randomBytes(16)
  serial[0] = (serial[0] ?? 0) & 0x7f || 0x01
  const signature = sequence(oid(ecdsaWithSha256))
  const tbs = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    signature,
    name,
    sequence(time(now - 3_600_000), time(now + 365 * 86_400_000)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions())),
  )
  const signed = sign('sha256', tbs, privateKey)
  const der = sequence(tbs, signature, bits(signed))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(der),
  }
}

const commonName = [0x55, 0x04, 0x03]
const ecdsaWithSha256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]
const basicConstraints = [0x55, 0x1d, 0x13]
const subjectAltName = [0x55, 0x1d, 0x11]

function extensions(): Buffer[] {
  const authority = sequence(der(0x01, Buffer.from([0xff])))
  const addresses = sequence(der(0x87, Buffer.from([127, 0, 0, 1])), der(0x82, Buffer.from('localhost')))
  return [
    sequence(oid(basicConstraints), der(0x01, Buffer.from([0xff])), der(0x04, authority)),
    sequence(oid(subjectAltName), der(0x04, addresses)),
  ]
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const set = (...parts: Buffer[]): Buffer => der(0x31, Buffer.concat(parts))
const oid = (bytes: number[]): Buffer => der(0x06, Buffer.from(bytes))
const integer = (bytes: Buffer): Buffer => der(0x02, bytes)
const text = (value: string): Buffer => der(0x0c, Buffer.from(value))
const bits = (value: Buffer): Buffer => der(0x03, Buffer.concat([Buffer.from([0]), value]))
const tagged = (number: number, content: Buffer): Buffer => der(0xa0 + number, content)

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 wants. */
function time(milliseconds: number): Buffer {
  const digits = `${new Date(milliseconds).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`
  return digits < '2050' ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`
}
