// File sizes for display.

const units = ['bytes', 'KiB', 'MiB', 'GiB'] as const

/** "812 bytes", "4.2 KiB", "37 MiB". */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, bytes)
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit && value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? 'bytes'}`
}
