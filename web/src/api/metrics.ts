// The scheduling queue's metrics.

import { requestText } from './http'

/** What /metrics says, as text. */
export function getMetrics(signal?: AbortSignal): Promise<string> {
  return requestText('/metrics', { accept: 'text/plain', signal })
}
