import { afterEach, expect, it, vi } from 'vitest'
import { getConfiguration, tryConfiguration } from './configuration'
import { unloadReplay } from './replay'
import { getAttempts, getStatus, listResults } from './simulator'

/** Gives every request the same answer and returns the requests. */
function serve(status: number, body: string | null, type = 'application/json'): string[] {
  const asked: string[] = []
  vi.stubGlobal('fetch', async (request: Request) => {
    const sent = await request.text()
    asked.push(
      [
        request.method,
        request.url.replace(/^https?:\/\/[^/]+/, ''),
        `accept ${request.headers.get('Accept')}`,
        ...(sent ? [`${request.headers.get('Content-Type')} ${sent}`] : []),
      ].join(', ')
    )
    return new Response(body, { status, headers: { 'Content-Type': type } })
  })
  return asked
}

afterEach(() => {
  vi.unstubAllGlobals()
})

it('sends the given parameters, escaped', async () => {
  const asked = serve(200, '{"items":[],"continue":""}')
  await listResults({ namespace: 'shop', name: undefined, limit: 1 })
  await getAttempts('a/b?')
  expect(asked).toEqual([
    'GET, /api/v1/results?namespace=shop&limit=1, accept application/json',
    'GET, /api/v1/results/a%2Fb%3F, accept application/json',
  ])
})

it('sends and receives configurations as unchanged YAML', async () => {
  const asked = serve(200, 'kind: KubeSchedulerConfiguration # mine\n', 'application/yaml')
  expect(await getConfiguration('default')).toBe('kind: KubeSchedulerConfiguration # mine\n')
  expect(asked).toEqual(['GET, /api/v1/schedulerconfiguration/default, accept application/yaml'])
  const sent = serve(200, '{"revision":{}}')
  await tryConfiguration('a: 1 # one\n')
  expect(sent).toEqual([
    'PUT, /api/v1/schedulerconfiguration?dryRun=true, accept application/json, application/yaml a: 1 # one\n',
  ])
})

it('accepts a response without a body', async () => {
  serve(204, null)
  await expect(unloadReplay()).resolves.toBeUndefined()
})

it('throws the server’s error, with its details', async () => {
  serve(400, '{"message":"bad value","details":[{"field":"limit","message":"not a number"}]}')
  await expect(listResults({ limit: 1 })).rejects.toMatchObject({
    name: 'ApiError',
    message: 'bad value',
    code: 400,
    details: ['limit: not a number'],
  })
})

it('distinguishes an error response, no response and an abort', async () => {
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('Failed to fetch')))
  await expect(getStatus()).rejects.toMatchObject({
    name: 'ApiError',
    message: 'Failed to fetch',
    code: 0,
    unavailable: true,
  })
  const aborted = new DOMException('aborted', 'AbortError')
  vi.stubGlobal('fetch', () => Promise.reject(aborted))
  await expect(getStatus(AbortSignal.abort())).rejects.toBe(aborted)
})
