import { describe, expect, it } from 'vitest'
import { formatBytes } from './bytes'
import { applyCommand, curlCommand, exportPath } from './exporting'

const plain = { format: 'json', results: false, redact: false } as const

describe('an export', () => {
  it('has a URL with only the options that differ from the default', () => {
    expect(exportPath(plain)).toBe('/api/v1/export')
    expect(exportPath({ format: 'yaml', results: true, redact: true })).toBe(
      '/api/v1/export?format=yaml&results=true&redact=true'
    )
  })
  it('has a command that can be pasted', () => {
    expect(curlCommand({ ...plain, format: 'yaml' }, 'http://127.0.0.1:1212')).toBe(
      "curl -fsS -o cluster.yaml 'http://127.0.0.1:1212/api/v1/export?format=yaml'"
    )
    expect(applyCommand(plain)).toBe('kubectl apply -f cluster.json')
  })
  it('includes the token if the server requires it', () => {
    expect(curlCommand(plain, 'https://sim.example.com')).toContain('Authorization: Bearer')
    expect(curlCommand(plain, 'http://localhost:1212')).not.toContain('Authorization')
  })
})

it('formats sizes with few digits', () => {
  expect([0, 812, 4300, 12_000, 37 * 2 ** 20, 3.2 * 2 ** 30].map(formatBytes)).toEqual([
    '0 bytes',
    '812 bytes',
    '4.2 KiB',
    '12 KiB',
    '37 MiB',
    '3.2 GiB',
  ])
})
