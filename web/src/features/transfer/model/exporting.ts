// The URL of an export, and the equivalent command.

import { based } from '@/api/base'

export interface ExportChoice {
  format: 'yaml' | 'json'
  results: boolean
  redact: boolean
}

/** The path and query of the file, on the page's own server. */
export function exportPath({ format, results, redact }: ExportChoice): string {
  const query = new URLSearchParams()
  if (format === 'yaml') query.set('format', 'yaml')
  if (results) query.set('results', 'true')
  if (redact) query.set('redact', 'true')
  const text = query.toString()
  return based(`/api/v1/export${text ? `?${text}` : ''}`)
}

export function exportName({ format }: ExportChoice): string {
  return `cluster.${format}`
}

/** The same with curl. Off loopback, the server requires its token. */
export function curlCommand(choice: ExportChoice, origin: string): string {
  const { hostname } = new URL(origin)
  const local = hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname)
  const token = local ? '' : `-H "Authorization: Bearer $(cat TOKEN_FILE)" `
  return `curl -fsS ${token}-o ${exportName(choice)} '${origin}${exportPath(choice)}'`
}

export function applyCommand(choice: ExportChoice): string {
  return `kubectl apply -f ${exportName(choice)}`
}
