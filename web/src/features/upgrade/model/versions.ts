// Which two versions are compared.

import type { UpgradeVersion } from '@/api/types'

/**
 * The asked versions where they exist. By default the comparison ends at the newest version, and begins at the
 * newest one before it that is built, or else at the one before it.
 */
export function chosenVersions(
  versions: readonly UpgradeVersion[],
  from: string,
  to: string
): { from: string; to: string } {
  const known = (asked: string) => versions.find(({ minor }) => minor === asked)?.minor
  const end = known(to) ?? versions.findLast(({ minor }) => minor !== known(from))?.minor ?? ''
  const others = versions.filter(({ minor }) => minor !== end)
  const begin = known(from) ?? others.findLast(({ built }) => built)?.minor ?? others.at(-1)?.minor ?? ''
  return { from: begin, to: end }
}
