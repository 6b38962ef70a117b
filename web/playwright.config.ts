import { defineConfig } from '@playwright/test'

// What is measured has the machine for itself, after all else.
const measured = ['ready', 'latency', 'stream', 'matrix', 'robustness', 'weight'].map((name) => `${name}.spec.ts`)
// Not tests of every run: one makes the README's picture, one takes minutes to fill a simulator.
const special = ['picture.spec.ts', 'scale.spec.ts']
const asked = (file: string) => !!process.env[file === 'picture.spec.ts' ? 'PICTURE' : 'SCALE']

// The tests drive the real binary (e2e/simulator.ts starts it) in one Chromium.
export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  workers: 2,
  fullyParallel: false,
  projects: [
    { name: 'pages', testIgnore: [...measured, ...special] },
    { name: 'measured', testMatch: measured, workers: 1, dependencies: ['pages'] },
    { name: 'special', testMatch: special.filter(asked), workers: 1 },
  ],
  forbidOnly: !!process.env.CI,
  reporter: [['list']],
  use: {
    viewport: { width: 1440, height: 900 },
    locale: 'en-US',
    // A failure tells what was on the page; TRACE=1 keeps its trace too, which costs every test some of its time.
    trace: process.env.TRACE ? { mode: 'retain-on-failure', screenshots: false } : 'off',
    launchOptions: {
      executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
      args: [
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        // Chromium refuses to sandbox as root, which is what a container often is.
        ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      ],
    },
  },
})
