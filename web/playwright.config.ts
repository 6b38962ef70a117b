import { defineConfig } from '@playwright/test'

// The tests drive the real binary (e2e/simulator.ts starts it) in one Chromium.
export default defineConfig({
  testDir: 'e2e',
  // Not tests of every run: one makes the README's picture, one takes minutes to fill a simulator.
  testIgnore: [...(process.env.PICTURE ? [] : ['picture.spec.ts']), ...(process.env.SCALE ? [] : ['scale.spec.ts'])],
  outputDir: 'test-results',
  timeout: 60_000,
  expect: { timeout: 10_000 },
  workers: 1,
  fullyParallel: false,
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
