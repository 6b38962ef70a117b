// Field paths as the API server writes them.

/** Splits a field path as the API server writes it: a.b[0].c, labels[example.com/x]. */
export function parsePath(path: string): (string | number)[] {
  const out: (string | number)[] = []
  for (const match of path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)) {
    const [, bracket, plain] = match
    if (plain !== undefined) out.push(plain)
    else if (bracket !== undefined)
      out.push(/^\d+$/.test(bracket) ? Number(bracket) : bracket.replace(/^["']|["']$/g, ''))
  }
  return out
}

/**
 * The parts of a strict decoding error, which lists every field that it refuses: each with its path
 * and its own message.
 */
export function strictErrors(message: string): { path: string; message: string }[] {
  return [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)].map(([own, path]) => ({
    path: path ?? '',
    message: own,
  }))
}

/** Field paths in the API server's message, for errors without causes. */
export function pathsInMessage(message: string): string[] {
  const paths = strictErrors(message).map(({ path }) => path)
  if (paths.length) return paths
  const decoding = /Go struct field \w+\.([\w.]+) of type/.exec(message)
  if (decoding?.[1]) return [decoding[1]]
  const invalid =
    /(?:is invalid: |^)\[?([a-z][\w.[\]/-]*): (?:Required|Invalid|Unsupported|Forbidden|Duplicate|Too)/i.exec(message)
  return invalid?.[1] ? [invalid[1]] : []
}
