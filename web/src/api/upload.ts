// Uploads with progress, which XMLHttpRequest reports and fetch does not.

import { base } from './base'
import { ApiError, parseError } from './http'

export interface Upload {
  path: string
  /** What the addresses of the simulator begin with; by default it is this page's. */
  at?: string
  method?: 'POST' | 'PUT'
  body: Blob | FormData
  /** The body's media type; the browser sets it for FormData. */
  type?: string
  accept?: string
  /** Reports the number of bytes sent; total is 0 while unknown. */
  sent?: (done: number, total: number) => void
  received?: (part: string) => void
  signal?: AbortSignal
}

/** Sends body and resolves with the whole response. Throws ApiError, or AbortError when signal aborts. */
export function upload({
  path,
  at = base,
  method = 'POST',
  body,
  type,
  accept = 'application/json',
  sent,
  received,
  signal,
}: Upload): Promise<string> {
  return new Promise((resolve, reject) => {
    const sender = new XMLHttpRequest()
    let taken = 0
    const ok = () => sender.status >= 200 && sender.status < 300
    const take = () => {
      if (!ok() || sender.responseText.length === taken) return
      const part = sender.responseText.slice(taken)
      taken = sender.responseText.length
      received?.(part)
    }
    sender.open(method, at + path)
    sender.setRequestHeader('Accept', accept)
    if (type) sender.setRequestHeader('Content-Type', type)
    sender.upload.onprogress = (event) => sent?.(event.loaded, event.lengthComputable ? event.total : 0)
    sender.onprogress = take
    sender.onload = () => {
      if (!ok()) return reject(parseError(sender.status, sender.responseText))
      take()
      resolve(sender.responseText)
    }
    sender.onerror = () => reject(new ApiError('the connection was lost', 0))
    sender.onabort = () => reject(new DOMException('aborted', 'AbortError'))
    signal?.addEventListener('abort', () => sender.abort(), { once: true })
    if (signal?.aborted) return reject(new DOMException('aborted', 'AbortError'))
    sender.send(body)
  })
}
