// How much a browser loads before it shows the map.

import { gzipSync } from 'node:zlib'
import type { Response } from '@playwright/test'
import { expect, test } from './simulator'

const kilobyte = 1000
const limit = 250

test(`the map loads at most ${limit} kB of compressed JavaScript, and no editor`, async ({ page, simulator }) => {
  const scripts: Promise<{ name: string; bytes: number }>[] = []
  const weigh = (response: Response) => {
    const { pathname } = new URL(response.url())
    if (pathname.endsWith('.js'))
      scripts.push(response.body().then((body) => ({ name: pathname, bytes: gzipSync(body).length })))
  }
  // The page loads the rest while it is idle, which it never is here.
  await page.addInitScript(() => (window.requestIdleCallback = () => 0))
  page.on('response', weigh)
  await page.goto(simulator.url)
  await expect(page.getByText('No nodes yet')).toBeVisible()
  const loaded = await Promise.all(scripts)
  const total = loaded.reduce((sum, script) => sum + script.bytes, 0) / kilobyte
  console.log(`${loaded.length} scripts, ${total.toFixed(0)} kB compressed`)
  expect(loaded.length).toBeGreaterThan(0)
  expect(total).toBeLessThanOrEqual(limit)
  expect(loaded.filter((script) => /yaml/i.test(script.name))).toEqual([])
})
