// The document that the draft started from, and starting from another one.

import { computed, ref, shallowRef, type Ref } from 'vue'
import { t } from '@/i18n'
import { begin } from './model/draft'
import type { OwnText } from '@/ui/ownTexts'
import { nameOfOwn, ownOrigin } from './model/ownPresets'
import { presetNames, presets, presetsToCheck, type PresetName } from './model/presets'
import { dirty, draft, running, useAccepted } from './store/configuration'

export interface Start {
  text: string
  /** As in Draft. */
  origin: string
}

export type DraftStart = ReturnType<typeof useDraftStart>

/** started is called after another document has replaced the draft. */
export function useDraftStart(started: () => void) {
  /** The document that the draft started from, so replacing this text loses nothing. */
  const startText = ref('')
  /** The document that waits for confirmation, because changes would be lost. */
  const replacing = shallowRef<Start>()
  const origin = computed(() => draft.value?.origin ?? '')
  /** The built-in preset that the draft started from; '' for other origins. */
  const preset = computed(() => presetNames.find((name) => name === origin.value) ?? '')
  const ownPreset = computed(() => nameOfOwn(origin.value))
  const accepted = new Map<PresetName, Ref<boolean>>(presetsToCheck.map((name) => [name, useAccepted(presets[name])]))

  /** Starts from a document. Asks first if changes would be lost. */
  function startFrom(text: string, from: string) {
    if (!running.value) return
    const now = draft.value
    const loses = dirty.value && now?.origin !== from && now?.text !== text && now?.text !== startText.value
    if (loses) replacing.value = { text, origin: from }
    else replace({ text, origin: from })
  }
  function replace(start: Start) {
    if (running.value) draft.value = begin(start.text, start.origin, running.value)
    startText.value = start.text
    replacing.value = undefined
    started()
  }

  const from = computed(() => {
    if (ownPreset.value !== undefined) return t('scheduler.fromPreset', { name: ownPreset.value })
    if (preset.value) return t('scheduler.fromPreset', { name: t(`scheduler.preset.${preset.value}.title`) })
    return /^\d+$/.test(origin.value) ? t('scheduler.fromRevision', { n: origin.value }) : ''
  })
  return {
    preset,
    ownPreset,
    about: computed(() =>
      [from.value, t('scheduler.onTopOf', { n: draft.value?.base.revision ?? 0 })].filter(Boolean).join(' ')
    ),
    offered: computed(() => presetNames.filter((name) => accepted.get(name)?.value ?? true)),
    choosePreset: (name: PresetName) => startFrom(presets[name], name),
    chooseOwn: (own: OwnText) => startFrom(own.text, ownOrigin(own.name)),
    startFrom,
    replacing,
    replace,
    /** Another document may then replace the text without asking. */
    savedAs(name: string) {
      // The running text is not a draft, so it has no origin.
      if (draft.value && dirty.value) draft.value = { ...draft.value, origin: ownOrigin(name) }
      startText.value = draft.value?.text ?? ''
    },
  }
}
