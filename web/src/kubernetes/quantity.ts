// Kubernetes quantities: "1500m", "3Gi", "2e3" as numbers, and numbers as short text.

const binary: Record<string, number> = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 }
const decimal: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
}

/** A cache, because thousands of objects use the same few quantities. */
const known = new Map<string, number>()
const keptAtMost = 5000

/** The value in base units (cores, bytes, pieces); NaN when it is not a quantity. */
export function parseQuantity(text: string | number | undefined): number {
  if (text === undefined) return NaN
  if (typeof text === 'number') return text
  let value = known.get(text)
  if (value === undefined) {
    value = readQuantity(text)
    if (known.size >= keptAtMost) known.clear()
    known.set(text, value)
  }
  return value
}

function readQuantity(text: string): number {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/.exec(text.trim())
  if (!match) return NaN
  const value = Number(match[1] + (match[2] ?? ''))
  const suffix = match[3] ?? ''
  return value * (binary[suffix] ?? decimal[suffix] ?? NaN)
}

export type Unit = 'cpu' | 'bytes' | 'count'

export function unitOf(resource: string): Unit {
  if (resource === 'cpu') return 'cpu'
  if (resource === 'memory' || resource === 'ephemeral-storage' || resource.startsWith('hugepages-')) return 'bytes'
  return 'count'
}

const byteUnits = ['B', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi']

/** The common unit of both numbers in "used / allocatable". */
function byteScale(bytes: number): { divisor: number; unit: string } {
  let i = 0
  while (i < byteUnits.length - 1 && Math.abs(bytes) >= 1024 ** (i + 1)) i++
  return { divisor: 1024 ** i, unit: byteUnits[i] ?? 'B' }
}

/** The format is the same in all our languages. */
const formats = [0, 1, 2, 3].map(
  (maximumFractionDigits) => new Intl.NumberFormat('en', { maximumFractionDigits, signDisplay: 'negative' })
)

/** At most `digits` decimals without trailing zeros, and thousands separators: 5,000 rather than 5000. */
export const trim = (value: number, digits: 0 | 1 | 2 | 3): string => formats[digits]?.format(value) ?? ''

/** One amount with its unit: "1.5", "512 Mi", "2". */
export function formatAmount(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '?'
  if (unit !== 'bytes') return trim(value, 3)
  const { divisor, unit: name } = byteScale(value)
  return `${trim(value / divisor, 1)} ${name}`
}

/** An amount of a resource in base units: cores, bytes, pieces. What is absent is none. */
export const formatResource = (resource: string, value = 0): string => formatAmount(value, unitOf(resource))

/** An amount as the server compares it: CPU in thousandths of a core, everything else in its own unit. */
export function amountOf(resource: string, value: number): string {
  const unit = unitOf(resource)
  return formatAmount(unit === 'cpu' ? value / 1000 : value, unit)
}

/** "used / allocatable" as two texts and a common unit. */
export function formatPair(
  used: number,
  allocatable: number,
  unit: Unit
): { used: string; allocatable: string; unit: string } {
  if (unit !== 'bytes')
    return {
      used: trim(used, unit === 'cpu' ? 2 : 0),
      allocatable: trim(allocatable, unit === 'cpu' ? 2 : 0),
      unit: '',
    }
  const { divisor, unit: name } = byteScale(allocatable)
  return { used: trim(used / divisor, 1), allocatable: trim(allocatable / divisor, 1), unit: name }
}
