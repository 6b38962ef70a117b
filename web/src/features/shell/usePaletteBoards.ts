// The boards of batch scheduling in the command palette, and the groups, quotas and topologies that
// they show.

import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { boardPlace } from '@/features/act/model/links'
import { coschedulingGroupKind, nativeGroupKind, quotaKind, topologyKind } from '@/kubernetes/batch'
import { useServedKind } from '@/live/servedKinds'
import type { PaletteAction } from './usePaletteActions'

const boards = ['gangs', 'quotas', 'numa', 'sessions'] as const

export function usePaletteBoards(): ComputedRef<PaletteAction[]> {
  const { t } = useI18n()
  const router = useRouter()
  const followed = [coschedulingGroupKind, nativeGroupKind, quotaKind, topologyKind].map((kind) => ({
    kind,
    live: useServedKind(kind),
  }))
  return computed(() => [
    ...boards.map((board) => ({
      id: `board:${board}`,
      icon: board === 'numa' ? 'chip' : 'batch',
      title: t('palette.goTo', { place: t(`batch.board.${board}`) }),
      run: () => void router.push({ name: board }),
    })),
    ...followed.flatMap(({ kind, live }) =>
      [...live.items.value.values()].flatMap(({ metadata: { namespace, name } }): PaletteAction[] => {
        const place = boardPlace({ kind, namespace, name })
        return place
          ? [
              {
                id: `board:${kind.kind}.${kind.group}:${namespace ?? ''}/${name}`,
                icon: 'batch',
                title: name,
                detail: [kind.kind, namespace].filter(Boolean).join(' '),
                run: () => void router.push(place),
              },
            ]
          : []
      })
    ),
  ])
}
