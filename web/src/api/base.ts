// Where this page's simulator is. The trunk has the whole address; a branch has the addresses below
// /branches/NAME, and
// the trunk's server forwards them.

/** The name of a branch in an address; '' for the trunk. Names are DNS labels. */
export function branchIn(pathname: string): string {
  return /^\/branches\/([a-z0-9](?:[-a-z0-9]*[a-z0-9])?)(?:\/|$)/.exec(pathname)?.[1] ?? ''
}

/** What the addresses of a branch begin with; '' for the trunk. */
export const prefixOf = (branch: string): string => (branch ? `/branches/${branch}` : '')

/** The branch that this page shows; '' for the trunk. */
export const branchName = branchIn(window.location.pathname)

/** What the addresses of this page's simulator begin with. */
export const base = prefixOf(branchName)

/** The key of something that this browser keeps for this page's simulator only. */
export const ownKey = (key: string): string => (branchName ? `${key} of ${branchName}` : key)

/** The address of a path of this page's simulator, such as /api/v1/export. */
export const based = (path: string): string => base + path
