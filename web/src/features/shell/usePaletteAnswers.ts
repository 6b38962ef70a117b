// What the palette answers in words: why pods are pending, what a term means, and verbs with their first argument.

import { computed, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { useRouter } from 'vue-router'
import type { Pod } from '@/api/types'
import { pendingWhy } from '@/features/cluster/usePendingWhy'
import { terms, type Term } from '@/features/learn/model/glossary'
import { sortPending } from '@/kubernetes/pods'
import { cluster } from '@/live/cluster'
import { pods, results } from '@/live/watched'
import { aboutWords, type PaletteEntry } from './model/palette'
import { completions, type Choice, type Command, type PaletteVerb } from './model/verbs'

/** At most so many of each sort are shown. */
const most = 3
/** Words that ask why a pod has no node, or has this one. */
const why = /\bwhy\b|\bpending\b|\bwait(?:s|ing)?\b|\bstuck\b|\bunschedulable\b|なぜ|どうして|待|pending/i

export function usePaletteAnswers(
  text: Ref<string>,
  verbs: Ref<readonly PaletteVerb[]>,
  choose: (command: Command, choice: Choice) => void
): ComputedRef<readonly PaletteEntry[]> {
  const { t } = useI18n()
  const router = useRouter()

  function reasonOf(pod: Pod): string {
    const summary = results.value.items.find((s) => s.pod.uid === pod.metadata.uid)
    const [first] = pendingWhy(pod, summary).lines
    return [first?.plugin, first?.text].filter(Boolean).join(': ')
  }
  const toDecision = ({ metadata: { namespace = '', name } }: Pod, query: Record<string, string> = {}) =>
    void router.push({ name: 'decision', params: { namespace, name }, query })
  const pendingEntry = (pod: Pod): PaletteEntry => ({
    id: `answer:${pod.metadata.namespace}/${pod.metadata.name}`,
    group: 'answers',
    icon: 'ask',
    title: t('palette.answer.pending', { pod: pod.metadata.name }),
    detail: reasonOf(pod),
    wraps: true,
    run: () => toDecision(pod),
  })
  function pendingAnswers(): PaletteEntry[] {
    if (!why.test(text.value)) return []
    const named = (pod: Pod) => text.value.includes(pod.metadata.name)
    const placed = [...pods.value.items.values()].filter((pod) => pod.spec?.nodeName && named(pod)).slice(0, most)
    const all = sortPending(cluster.value.pending, 'oldest')
    const asked = all.filter(named)
    const shown = asked.length ? asked : placed.length ? [] : all
    const [first] = shown
    return [
      ...placed.map((pod): PaletteEntry => ({
        id: `answer:${pod.metadata.namespace}/${pod.metadata.name}`,
        group: 'answers',
        icon: 'ask',
        title: t('palette.answer.placed', { pod: pod.metadata.name, node: pod.spec?.nodeName ?? '' }),
        run: () => toDecision(pod),
      })),
      ...shown.slice(0, most).map(pendingEntry),
      ...(first
        ? [
            {
              id: 'answer:fit',
              group: 'answers' as const,
              icon: 'flask',
              title: t('palette.answer.fit', { pod: first.metadata.name }),
              run: () => toDecision(first, { panel: 'fit' }),
            },
          ]
        : []),
      {
        id: 'answer:why',
        group: 'answers',
        icon: 'right',
        title: t('palette.answer.all', all.length),
        run: () => void router.push({ name: 'why' }),
      },
    ]
  }

  const nameOf = ({ id }: Term) => t(`glossary.terms.${id}.name`)
  function termAnswers(): PaletteEntry[] {
    const words = aboutWords(text.value.replace(/^\s*\?/, '')).filter((word) => word.length > 2 || /[^ -~]/.test(word))
    if (!words.length) return []
    const line = ` ${words.join(' ')}`
    const of = (term: Term) => [
      term.id.replaceAll('-', ' '),
      nameOf(term).toLowerCase(),
      t(`glossary.terms.${term.id}.name`, {}, { locale: 'en' }).toLowerCase(),
    ]
    return terms
      .filter((term) =>
        of(term).some(
          (name) =>
            line.includes(` ${name}`) ||
            (/[^ -~]/.test(name) && line.includes(name)) ||
            words.every((word) => name.includes(word))
        )
      )
      .slice(0, most)
      .map((term) => ({
        id: `term:${term.id}`,
        group: 'glossary' as const,
        icon: 'learn',
        title: nameOf(term),
        detail: t(`glossary.terms.${term.id}.text`),
        wraps: true,
        run: () => void router.push({ name: 'glossary', hash: `#${term.id}` }),
      }))
  }

  /** "drain node-3": the verb, and what it is about. */
  function verbAnswers(): PaletteEntry[] {
    const words = aboutWords(text.value.replace(/^\s*>/, ''))
    if (words.length < 2) return []
    return verbs.value
      .flatMap((verb) => {
        const title = verb.title.toLowerCase().split(/[\s…]+/)
        const own = words.filter((word) => word.length > 2 && title.some((part) => part.startsWith(word)))
        const rest = words.filter((word) => !own.includes(word))
        const command: Command = { verb, chosen: [] }
        if (!own.length || !rest.length) return []
        return completions(command, rest.join(' '))
          .slice(0, most)
          .map((choice) => ({
            id: `${verb.id} ${choice.value}`,
            group: 'answers' as const,
            icon: verb.icon,
            title: `${verb.title.replace(/…$/, '')}: ${choice.title}`,
            detail: choice.detail,
            stays: !!verb.next([choice]),
            run: () => choose(command, choice),
          }))
      })
      .slice(0, 2 * most)
  }
  return computed(() => {
    const asks = text.value.trim()
    if (!asks || /^[@#]/.test(asks)) return []
    if (asks.startsWith('>')) return verbAnswers()
    if (asks.startsWith('?')) return termAnswers()
    return [...verbAnswers(), ...pendingAnswers(), ...termAnswers()]
  })
}
