// The client of the simulator's own routes: paths, parameters, bodies and answers have the
// types of schema.ts, which is generated from the server's OpenAPI document.

import createClient, { type Middleware } from 'openapi-fetch'
import { noAnswer, parseError } from './http'
import type { paths } from './schema'

const failures: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw parseError(response.status, await response.text().catch(() => ''))
  },
  onError: ({ error }) => noAnswer(error),
}

/** Calls throw ApiError for every answer but a success, and AbortError as it is. */
export const client = createClient<paths>({
  headers: { Accept: 'application/json' },
  // Looked up for each call, so that tests can put another in its place.
  fetch: (request) => fetch(request),
})
client.use(failures)

/** The body of a successful answer. */
export async function bodyOf<Body>(answer: Promise<{ data?: Body }>): Promise<Body> {
  // Failures have thrown, so what is left is typed as the body of the success.
  return (await answer).data as Body
}
