import { defineConfig } from '@playwright/test'

// Tests that measure time or size. They run one at a time, after all others.
const measured = ['ready', 'latency', 'dial', 'stream', 'matrix', 'robustness', 'weight'].map(
  (name) => `${name}.spec.ts`
)
// Files that run only on request: one draws the README's picture, one fills a simulator for minutes.
const special = ['picture.spec.ts', 'scale.spec.ts']
const requested = (file: string) => !!process.env[file === 'picture.spec.ts' ? 'PICTURE' : 'SCALE']

// The tests drive the real binary, which e2e/simulator.ts starts, in one Chromium.
//
// `npm run e2e` runs the project main: the tests tagged @main, which cover each main path of a
// user once, for a browser that saves data, and take about three minutes. `npm run e2e:all` runs all
// tests but the special ones; e2e:pages and e2e:measured are its halves.
// Tests in a serial file share a simulator: tag a test only if the earlier tests that it
// builds on are tagged, too.
export default defineConfig<{ preloads: boolean; restarts: boolean }>({
  testDir: 'e2e',
  // Playwright recreates this directory on every run. Directly in web, it would change web's
  // modification time, and Go would
  // rerun the documentation's tests, which depend on it.
  outputDir: 'test-results/latest',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  workers: 2,
  fullyParallel: false,
  projects: [
    { name: 'main', grep: /@main/, testIgnore: [...measured, ...special], use: { preloads: false } },
    { name: 'pages', testIgnore: [...measured, ...special] },
    { name: 'measured', testMatch: measured, workers: 1, dependencies: ['pages'], use: { restarts: true } },
    { name: 'special', testMatch: special.filter(requested), workers: 1, use: { restarts: true } },
  ],
  forbidOnly: !!process.env.CI,
  reporter: [['list']],
  use: {
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    // A failure reports the page's content. TRACE=1 also keeps its trace, which slows down every test.
    trace: process.env.TRACE ? { mode: 'retain-on-failure', screenshots: false } : 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium-headless-shell',
      args: [
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // Chromium refuses to use its sandbox as root, and containers often run as root.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ],
    },
  },
})
