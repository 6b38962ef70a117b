// A hypothesis as text for a URL: JSON, deflated, as base64url. The reader who opens the link gets
// text from a stranger, so reading it is bounded and checked.

import { readHypothesis, type Hypothesis } from './hypothesis'

/** Longer links are cut by chat programs and refused by some proxies (characters). */
export const longestLink = 6000
/** A short link must not become a large text (bytes). */
const mostText = 1_000_000

/** undefined when it would be too long for a link. */
export async function encodeHypothesis(hypothesis: Hypothesis): Promise<string | undefined> {
  const packed = await through(
    new TextEncoder().encode(JSON.stringify(hypothesis)),
    new CompressionStream('deflate-raw')
  )
  const code = packed && toBase64(packed)
  return code && code.length <= longestLink ? code : undefined
}

/** undefined when the text is not a hypothesis. */
export async function decodeHypothesis(code: string): Promise<Hypothesis | undefined> {
  if (code.length > longestLink) return undefined
  try {
    const text = await through(fromBase64(code), new DecompressionStream('deflate-raw'))
    return text && readHypothesis(JSON.parse(new TextDecoder().decode(text)))
  } catch {
    return undefined
  }
}

/** undefined when the output is too large. */
async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream
): Promise<Uint8Array | undefined> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    parts.push(next.value)
    length += next.value.length
    if (length > mostText) {
      await reader.cancel()
      return undefined
    }
  }
  const out = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}

function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
}
