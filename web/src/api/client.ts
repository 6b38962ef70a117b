// The client for the simulator's own routes. Paths, parameters, bodies and responses have
// the types of schema.ts, which is generated from the server's OpenAPI document.

import createClient, { type Middleware } from 'openapi-fetch'
import { base } from './base'
import { noAnswer, parseError } from './http'
import type { paths } from './schema'

const failures: Middleware = {
  async onResponse({ response }) {
    if (!response.ok)
      throw parseError(response.status, await response.text().catch(() => ''), response.headers.get('Retry-After'))
  },
  onError: ({ error }) => noAnswer(error),
}

/** Calls throw ApiError unless they succeed; AbortError passes through unchanged. */
export const client = clientOf(base)

/** The client for the trunk's routes, wherever this page is. */
export const trunkClient = base ? clientOf('') : client

function clientOf(baseUrl: string) {
  const client = createClient<paths>({
    baseUrl,
    headers: { Accept: 'application/json' },
    // A function, so that tests can replace fetch.
    fetch: (request) => fetch(request),
  })
  client.use(failures)
  return client
}

export async function bodyOf<Body>(answer: Promise<{ data?: Body }>): Promise<Body> {
  // Failures have already thrown, so only the body of a success is left.
  return (await answer).data as Body
}
