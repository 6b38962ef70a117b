// Starts the simulator's binary for tests and stops what it started.

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { expect, test as base, type Page } from '@playwright/test'

export const binary = resolve(process.env.SIMULATOR_BIN ?? '../bin/simulator')

/** Waits until the page shows a workspace that runs, and returns its simulator. */
export async function inWorkspace(page: Page, path = ''): Promise<Simulator> {
  await expect(page).toHaveURL(/\/branches\//, { timeout: 30_000 })
  const base = /^.*\/branches\/[^/]+/.exec(page.url())?.[0] ?? ''
  await expect(async () => {
    const own = await page.request.get(`${base}/api/v1/branch`)
    expect(await own.json()).toMatchObject({ state: 'running' })
  }).toPass({ timeout: 90_000 })
  expect(new URL(page.url()).pathname).toBe(new URL(base).pathname + (path || '/'))
  return Simulator.attach(base)
}

export class Simulator {
  private constructor(
    /** undefined for a simulator that this process did not start. */
    private readonly child: ChildProcess | undefined,
    /** http://127.0.0.1:PORT, without a trailing slash. */
    readonly url: string
  ) {}

  /** Resolves when the simulator has printed its ready line. */
  static async start(flags: string[] = [], program = binary): Promise<Simulator> {
    const listen = flags.includes('--listen') ? [] : ['--listen', '127.0.0.1:0']
    const child = spawn(program, [...listen, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString()).slice(-20_000)
    })
    const url = await new Promise<string>((done, fail) => {
      let out = ''
      child.stdout?.on('data', (chunk: Buffer) => {
        out += chunk.toString()
        const ready = /^ready: (http:\/\/[^\s/]+)/m.exec(out)
        if (ready?.[1]) done(ready[1])
      })
      child.once('error', (error) => fail(new Error(`start ${binary}: ${error.message}`)))
      child.once('exit', (code) => fail(new Error(`${binary} ended with ${code} before it was ready:\n${stderr}`)))
    })
    return new Simulator(child, url)
  }

  /** Uses a running simulator; stop() leaves it running. */
  static attach(url: string): Simulator {
    return new Simulator(undefined, url.replace(/\/$/, ''))
  }

  get port(): string {
    return new URL(this.url).port
  }

  /** Sends a signal, such as SIGSTOP to simulate a server that hangs. */
  signal(name: NodeJS.Signals): void {
    this.child?.kill(name)
  }

  async stop(): Promise<void> {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill('SIGTERM')
    await ended
  }

  /** Deletes all branches, objects and results, and restores the configuration. */
  async reset(): Promise<void> {
    const { items } = await this.call<{ items: { name: string }[] }>('GET', '/api/v1/branches')
    for (const { name } of items) await this.call('DELETE', `/api/v1/branches/${name}`)
    await this.call('PUT', '/api/v1/reset')
  }

  /**
   * Sends a request to a path of the server, and fails if the server refuses it. A string is sent
   * as YAML.
   */
  async send(method: string, path: string, body?: unknown): Promise<Response> {
    const yaml = typeof body === 'string'
    const response = await fetch(this.url + path, {
      method,
      headers: {
        'Content-Type': yaml
          ? 'application/yaml'
          : method === 'PATCH'
            ? 'application/merge-patch+json'
            : 'application/json',
      },
      ...(body === undefined ? {} : { body: yaml ? body : JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response
  }

  /** Is send, and returns the content of the answer, or undefined if it has none. */
  async call<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.send(method, path, body)
    return (response.status === 204 ? undefined : await response.json()) as T
  }

  /** Applies a KubeSchedulerConfiguration, as another client would. */
  async configure(document: string): Promise<void> {
    const { status } = await this.send('PUT', '/api/v1/schedulerconfiguration', document)
    expect(status).toBe(200)
  }

  /** Sends a request to the Kubernetes API, as another client would. */
  kube<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.call(method, `/kubernetes${path}`, body)
  }

  /**
   * Resolves when pods can be scheduled to these nodes: nodes stay tainted until their virtual
   * kubelets report Ready.
   */
  async ready(...nodes: string[]): Promise<void> {
    for (const name of nodes) {
      await expect(async () => {
        const { spec, status } = await this.kube<{
          spec: { taints?: { key: string }[] }
          status: { conditions?: { type: string; status: string }[] }
        }>('GET', `/api/v1/nodes/${name}`)
        expect(spec.taints?.map((taint) => taint.key) ?? []).not.toContain('node.kubernetes.io/not-ready')
        expect(status.conditions).toContainEqual(expect.objectContaining({ type: 'Ready', status: 'True' }))
      }).toPass()
    }
  }
}

/**
 * Runs one simulator at a time, and resets it for each test file. Only the time line and the
 * numbers of revisions outlast that.
 */
class PerFile {
  private file = ''
  private running: Simulator | undefined

  async of(file: string, restarts: boolean): Promise<Simulator> {
    if (this.running && this.file === file) return this.running
    if (restarts) await this.stop()
    // A reset takes a tenth of the processor time of a start.
    if (this.running) await this.running.reset()
    else this.running = await Simulator.start()
    this.file = file
    return this.running
  }
  async stop(): Promise<void> {
    await this.running?.stop()
    this.running = undefined
  }
}

/** What the browser logs for a request that fails or is refused, by its status or network error. */
export const refused = (status: number | string) => new RegExp(`^Failed to load resource: .*${status}`)
/**
 * What the browser logs when the server refuses a question about a pod whose text is not complete
 * yet, or that names objects to come.
 */
export const refusedQuestion = /422 .*\/api\/v1\/whatif/
/**
 * What the browser logs when the server ends before or in the middle of an answer, and while no
 * server listens.
 */
export const serverAway = /net::ERR_(?:CONNECTION|EMPTY_RESPONSE|INCOMPLETE_CHUNKED)|WebSocket connection to .* failed/

/**
 * The tests of a file share one simulator, which is empty at first. A test fails on every error in
 * the console of the browser and on every uncaught one, except those that it adds to allowed.
 */
export const test = base.extend<
  { simulator: Simulator; allowed: RegExp[]; preloads: boolean; restarts: boolean },
  { perFile: PerFile }
>({
  /** Whether the simulator starts again for the file, which looks at what outlasts a reset, or measures. */
  restarts: [false, { option: true }],
  /**
   * Whether the application loads all of its parts while the browser is idle, which takes two
   * fifths of a page's processor time.
   */
  preloads: [true, { option: true }],
  // eslint-disable-next-line no-empty-pattern
  allowed: async ({}, use) => use([]),
  context: async ({ context, allowed, preloads }, use) => {
    if (!preloads)
      await context.addInitScript(() => Object.defineProperty(navigator, 'connection', { value: { saveData: true } }))
    const seen: string[] = []
    context.on(
      'console',
      (message) => message.type() === 'error' && seen.push(`${message.text()} (${message.location().url})`)
    )
    context.on('weberror', (error) => seen.push(`uncaught: ${error.error().stack ?? error.error().message}`))
    await use(context)
    const unexpected = seen.filter((text) => !allowed.some((one) => one.test(text)))
    expect(unexpected, 'errors in the console of the browser').toEqual([])
  },
  perFile: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const perFile = new PerFile()
      await use(perFile)
      await perFile.stop()
    },
    { scope: 'worker' },
  ],
  simulator: async ({ perFile, restarts }, use, info) => {
    await use(await perFile.of(info.file, restarts))
  },
})
export { expect }

export function node(name: string, more: { taint?: boolean; cpu?: string; labels?: Record<string, string> } = {}) {
  const amounts = { cpu: more.cpu ?? '8', memory: '32Gi', pods: '110' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...more.labels } },
    spec: more.taint ? { taints: [{ key: 'dedicated', value: 'batch', effect: 'NoSchedule' }] } : {},
    status: { capacity: amounts, allocatable: amounts, conditions: [{ type: 'Ready', status: 'True' }] },
  }
}

export function pod(name: string, cpu = '500m') {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [
        { name: 'c', image: 'registry.k8s.io/pause:3.10', resources: { requests: { cpu, memory: '256Mi' } } },
      ],
    },
  }
}

/**
 * Creates a priority class and a pod with it. It retries, because admission sees a new class only
 * after a moment.
 */
export async function createUrgent(simulator: Simulator, name: string, cpu: string): Promise<void> {
  await simulator.kube('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
    metadata: { name: 'high' },
    value: 1000,
  })
  const urgent = pod(name, cpu)
  const body = { ...urgent, spec: { ...urgent.spec, priorityClassName: 'high' } }
  await expect(() => simulator.kube('POST', '/api/v1/namespaces/default/pods', body)).toPass()
}

/** While a workspace starts, the simulator answers for it that it does not run. */
export const workspaceErrors = [refused(503), refused(404), serverAway]
