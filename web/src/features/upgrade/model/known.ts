// What is known to have changed between versions. A sentence explains it; an unknown cause is shown as data.
//
// Sources: pkg/features/kube_features.go and pkg/scheduler/framework/plugins of Kubernetes 1.37, and
// TestKnownDifferences of simulator/questions/upgrade.

import type { UpgradeCause } from '@/api/types'

interface Known {
  /** The key of the sentence. */
  key: string
  plugins: readonly string[]
  points: readonly string[]
  /** The gate behind it; undefined if no gate guards it. */
  gate?: string
  /** The minor versions that changed it. A comparison explains it if it crosses one of them. */
  since: readonly string[]
}

const devices = { plugins: ['DynamicResources'], points: ['filter', 'preFilter', 'score'], since: ['1.36'] } as const

const all: readonly Known[] = [
  {
    key: 'balanced',
    plugins: ['NodeResourcesBalancedAllocation'],
    points: ['score'],
    since: ['1.36'],
  },
  { key: 'imageVolumes', plugins: ['ImageLocality'], points: ['score'], since: ['1.36', '1.37'] },
  {
    key: 'storageScore',
    plugins: ['VolumeBinding'],
    points: ['score'],
    gate: 'StorageCapacityScoring',
    since: ['1.37'],
  },
  {
    key: 'driverMissing',
    plugins: ['NodeVolumeLimits'],
    points: ['filter'],
    gate: 'VolumeLimitScaling',
    since: ['1.37'],
  },
  {
    key: 'tolerationOperators',
    plugins: ['TaintToleration'],
    points: ['filter', 'score'],
    gate: 'TaintTolerationComparisonOperators',
    since: ['1.35'],
  },
  {
    key: 'extendedResource',
    plugins: ['DynamicResources', 'NodeResourcesFit'],
    points: ['filter', 'preFilter'],
    gate: 'DRAExtendedResource',
    since: ['1.36'],
  },
  { key: 'deviceTaints', ...devices, gate: 'DRADeviceTaints' },
  { key: 'partitions', ...devices, gate: 'DRAPartitionableDevices' },
  { key: 'consumable', ...devices, gate: 'DRAConsumableCapacity' },
  { key: 'declaredFeatures', plugins: ['NodeDeclaredFeatures'], points: ['filter', 'preFilter'], since: ['1.36'] },
]

const minor = (version: string): number => Number(version.split('.')[1] ?? 0)

/** Whether one of the versions is before a change, and the other is not. */
function crosses(since: readonly string[], from: string, to: string): boolean {
  const [low, high] = [Math.min(minor(from), minor(to)), Math.max(minor(from), minor(to))]
  return since.some((one) => low < minor(one) && minor(one) <= high)
}

/** The key of the sentence about a cause; undefined if it is not known. */
export function knownCause(cause: UpgradeCause, from: string, to: string): string | undefined {
  const [plugin, ...others] = cause.plugins ?? []
  if (!plugin || others.length) return undefined
  return all.find(
    ({ plugins, points, gate, since }) =>
      plugins.includes(plugin) &&
      points.includes(cause.point ?? '') &&
      (gate === undefined || cause.gates?.includes(gate)) &&
      crosses(since, from, to)
  )?.key
}
