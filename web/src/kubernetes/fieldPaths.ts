// Field paths as the API server writes them.

/** Splits a field path as the API server writes it: a.b[0].c, labels[example.com/x]. */
export function parsePath(path: string): (string | number)[] {
  const out: (string | number)[] = []
  for (const match of path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)) {
    const [, bracket, plain] = match
    if (plain !== undefined) out.push(plain)
    else if (bracket !== undefined) out.push(/^\d+$/.test(bracket) ? Number(bracket) : bracket.replace(/^["']|["']$/g, ''))
  }
  return out
}

/** Field paths in the API server's message, for errors without causes. */
export function pathsInMessage(message: string): string[] {
  const paths = [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)].map((m) => m[1] ?? '')
  if (paths.length) return paths
  const invalid = /(?:is invalid: |^)\[?([a-z][\w.[\]/-]*): (?:Required|Invalid|Unsupported|Forbidden|Duplicate|Too)/i.exec(message)
  return invalid?.[1] ? [invalid[1]] : []
}
