// The actions of the command palette: opening pages, creating, transferring, replaying, and settings.

import { computed, type ComputedRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import { firstLesson } from '@/features/cluster/model/firstLesson'
import { templateIds } from '@/features/create/model/templateIds'
import { openCreate } from '@/features/create/store/create'
import { changeReplay, replay, stepReplay } from '@/features/replay/store/replay'
import { openImport, transferDialog } from '@/features/transfer/store/transfer'
import { language } from '@/i18n/language'
import { external } from '@/live/operation'
import { showsPast } from '@/live/shownMoment'
import { transfers } from '@/live/servedTransfers'
import { notifyFailure } from '@/ui/notices'
import { theme } from '@/ui/theme'
import type { PaletteEntry } from './model/palette'
import { placeOf, views, type View } from './model/places'
import { placeKeys } from './model/shortcuts'
import { viewName } from './viewName'

export type PaletteAction = Omit<PaletteEntry, 'group'>

/** The actions that are possible now, and the pages. help opens the list of shortcuts. */
export function usePaletteActions(help: () => void): {
  actions: ComputedRef<PaletteAction[]>
  places: ComputedRef<PaletteAction[]>
} {
  const { t } = useI18n()
  const router = useRouter()

  const titleOf = (view: View) => {
    const place = t(`nav.place.${placeOf(view) ?? 'cluster'}`)
    return `${place}: ${viewName(view)}`
  }
  const placeAction = (name: View): PaletteAction => ({
    id: `place:${name}`,
    icon: 'right',
    title: t('palette.goTo', { place: titleOf(name) }),
    note: Object.entries(placeKeys).flatMap(([key, value]) => (value === name ? [`g ${key}`] : []))[0],
    run: () => void router.push({ name }),
  })
  const transferActions = computed((): PaletteAction[] => {
    const serves = (name: 'import' | 'export' | 'reset' | 'replay') => transfers.value?.has(name)
    const all: PaletteAction[] = []
    if (serves('import'))
      all.push(
        { id: 'import', icon: 'upload', title: t('transfer.import'), run: () => openImport() },
        {
          id: 'import:compared',
          icon: 'upload',
          title: t('transfer.compared'),
          run: () => void router.push({ name: 'import' }),
        }
      )
    if (serves('export'))
      all.push({
        id: 'export',
        icon: 'download',
        title: t('transfer.export'),
        run: () => (transferDialog.value = 'export'),
      })
    if (serves('reset') && !external.value)
      all.push({ id: 'reset', icon: 'reset', title: t('transfer.reset'), run: () => (transferDialog.value = 'reset') })
    if (serves('replay'))
      all.push({
        id: 'replay',
        icon: 'history',
        title: replay.value ? t('replay.compare') : t('transfer.replay'),
        run: () => void router.push({ name: 'replay' }),
      })
    return all
  })
  const replayActions = computed((): PaletteAction[] => {
    const titled = (word: string) => `${t('replay.title')}: ${word}`
    if (replay.value?.state === 'playing')
      return [
        {
          id: 'replay:pause',
          icon: 'pause',
          title: titled(t('replay.pause')),
          run: () => void reported(changeReplay({ state: 'paused' })),
        },
      ]
    if (replay.value?.state !== 'paused') return []
    return [
      {
        id: 'replay:play',
        icon: 'play',
        title: titled(t('replay.play')),
        run: () => void reported(changeReplay({ state: 'playing' })),
      },
      { id: 'replay:step', icon: 'step', title: titled(t('replay.step')), run: () => void reported(stepReplay()) },
    ]
  })

  const actions = computed(() => [
    // The past can be looked at, but not changed.
    ...(showsPast.value
      ? []
      : [
          { id: 'create', icon: 'plus', title: t('palette.create'), note: 'c', run: () => openCreate() },
          ...transferActions.value,
          ...replayActions.value,
        ]),
    { id: 'light', icon: 'sun', title: t('header.themeLight'), run: () => (theme.value = 'light') },
    { id: 'dark', icon: 'moon', title: t('header.themeDark'), run: () => (theme.value = 'dark') },
    { id: 'system', icon: 'sun', title: t('header.themeSystem'), run: () => (theme.value = 'system') },
    language.value === 'en'
      ? { id: 'ja', icon: 'info', title: '日本語', run: () => (language.value = 'ja') }
      : { id: 'en', icon: 'info', title: 'English', run: () => (language.value = 'en') },
    { id: 'help', icon: 'info', title: t('keys.title'), note: '?', run: help },
    { id: 'predict', icon: 'target', title: t('palette.predict'), run: () => void router.push({ name: 'predict' }) },
    { id: 'lesson', icon: 'learn', title: t('keys.lesson'), run: () => void router.push(firstLesson) },
    ...(showsPast.value ? [] : templateIds).map((id) => ({
      id: `create:${id}`,
      icon: 'plus',
      title: t('palette.createFrom', { template: t(`create.templates.${id}`) }),
      run: () => openCreate(id),
    })),
  ])
  return { actions, places: computed(() => views.map(placeAction)) }
}

function reported(done: Promise<void>): Promise<void> {
  return done.catch(notifyFailure)
}
