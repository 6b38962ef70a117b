// Where a decision is to be had as a file that opens without a server.

import { based } from '@/api/base'
import type { Cycle } from '@/api/types'

export const reportHref = ({ pod, attempt }: Pick<Cycle, 'pod' | 'attempt'>): string => based(`/api/v1/results/${pod.uid}/${attempt}?format=html`)
