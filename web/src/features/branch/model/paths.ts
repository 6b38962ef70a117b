// Addresses of the trunk's pages, for a branch's. They lead to another simulator, so they are no routes.

import type { Branch } from '@/api/branches'

/** Where the trunk compares two workspaces; '' is the trunk. */
export const comparePath = (a: string, b: string): string =>
  `/timeline?${new URLSearchParams({ a, b, view: 'branches' })}`

/** Where leaving a branch leads: back to the lessons, or to the trunk's cluster. */
export const leavePath = (branch: Pick<Branch, 'purpose'> | undefined): string =>
  branch?.purpose === 'lesson' ? '/learn' : '/'
