// Which document the draft started as, and starting with another one.

import { computed, ref, shallowRef, type ComputedRef, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { begin } from './model/draft'
import { nameOfOwn, ownOrigin, type OwnPreset } from './model/ownPresets'
import { presetNames, presets, type PresetName } from './model/presets'
import { dirty, draft, running, useAccepted } from './store/configuration'

/** A document to start with. */
export interface Start {
  text: string
  /** As in Draft. */
  origin: string
}

export interface DraftStart {
  /** The preset that the draft started as; '' when it did not. */
  preset: ComputedRef<PresetName | ''>
  /** The name of the own preset that it started as. */
  ownPreset: ComputedRef<string | undefined>
  /** The same in words, with the revision that it is based on. */
  about: ComputedRef<string>
  /** The presets that this server accepts. */
  offered: ComputedRef<readonly PresetName[]>
  choosePreset(name: PresetName): void
  chooseOwn(preset: OwnPreset): void
  /** Starts with a document; asks first when changes would be lost. */
  startFrom(text: string, origin: string): void
  /** The document that waits for a person's consent to lose the changes. */
  replacing: ShallowRef<Start | undefined>
  replace(start: Start): void
  /** The text was saved as an own preset, so it is not lost when another one replaces it. */
  savedAs(name: string): void
}

/** started is called when another document has replaced the draft. */
export function useDraftStart(started: () => void): DraftStart {
  const { t } = useI18n()
  /** The text that a person can have back: the document that the draft started as. */
  const startText = ref('')
  const replacing = shallowRef<Start>()
  const origin = computed(() => draft.value?.origin ?? '')
  const preset = computed(() => presetNames.find((name) => name === origin.value) ?? '')
  const ownPreset = computed(() => nameOfOwn(origin.value))
  // The formula needs a plugin that not every server has.
  const hasFormula = useAccepted(presets.celScore)

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
    about: computed(() => [from.value, t('scheduler.onTopOf', { n: draft.value?.base.revision ?? 0 })].filter(Boolean).join(' ')),
    offered: computed(() => presetNames.filter((name) => name !== 'celScore' || hasFormula.value)),
    choosePreset: (name) => startFrom(presets[name], name),
    chooseOwn: (own) => startFrom(own.text, ownOrigin(own.name)),
    startFrom,
    replacing,
    replace,
    savedAs(name) {
      // A text that runs is no draft, so it has no origin.
      if (draft.value && dirty.value) draft.value = { ...draft.value, origin: ownOrigin(name) }
      startText.value = draft.value?.text ?? ''
    },
  }
}
