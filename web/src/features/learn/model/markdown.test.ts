import { expect, it } from 'vitest'
import { parseInline, parseMarkdown } from './markdown'

const text = (text: string) => ({ kind: 'text', text })

it('reads the blocks that lessons use', () => {
  expect(
    parseMarkdown(
      [
        'Filter asks',
        'one node at a time.',
        '',
        '1. The **raw** score',
        '   of a plugin.',
        '2. Times `weight`.',
        '',
        '    profiles:',
        '    - a',
        '',
        '> Quoted',
        '',
        '| a | b |',
        '| --- | --- |',
        '| 1 | *2* |',
        '',
        '```',
        'kubectl get pods',
        '```',
        '## Title',
      ].join('\n')
    )
  ).toEqual([
    { kind: 'paragraph', of: [text('Filter asks one node at a time.')] },
    {
      kind: 'list',
      ordered: true,
      items: [
        [text('The '), { kind: 'strong', of: [text('raw')] }, text(' score of a plugin.')],
        [text('Times '), { kind: 'code', text: 'weight' }, text('.')],
      ],
    },
    { kind: 'code', text: 'profiles:\n- a' },
    { kind: 'quote', of: [{ kind: 'paragraph', of: [text('Quoted')] }] },
    { kind: 'table', head: [[text('a')], [text('b')]], rows: [[[text('1')], [{ kind: 'emphasis', of: [text('2')] }]]] },
    { kind: 'code', text: 'kubectl get pods' },
    { kind: 'heading', of: [text('Title')] },
  ])
})

it('joins Japanese lines without a space, and marks words beside kana', () => {
  expect(parseMarkdown('フィルターは\nノードを**除外**する。')).toEqual([
    { kind: 'paragraph', of: [text('フィルターはノードを'), { kind: 'strong', of: [text('除外')] }, text('する。')] },
  ])
})

it('keeps multiplication and names with underscores as they are', () => {
  expect(parseInline('2 * 3 * 4 and some_long_name')).toEqual([text('2 * 3 * 4 and some_long_name')])
})

it('leaves HTML as text, and a link that is no page as its label', () => {
  expect(parseMarkdown('<img src=x onerror=alert(1)> <script>alert(1)</script>')).toEqual([
    { kind: 'paragraph', of: [text('<img src=x onerror=alert(1)> <script>alert(1)</script>')] },
  ])
  for (const to of [
    'javascript:alert',
    'data:text/html,x',
    '//evil.example',
    '/\\evil.example',
    'JaVaScRiPt:x',
    'evil.html',
    'https://a\\b',
  ])
    expect(parseInline(`[here](${to})`)).toEqual([text('here')])
  expect(parseInline('[here](/decisions/default/web)')).toEqual([
    { kind: 'link', to: '/decisions/default/web', of: [text('here')] },
  ])
  expect(parseInline('[docs](https://kubernetes.io/docs)')).toEqual([
    { kind: 'link', to: 'https://kubernetes.io/docs', of: [text('docs')] },
  ])
})

it('ends on text that opens and never closes, in linear time', () => {
  const hostile = ['**'.repeat(20_000), '`'.repeat(20_001) + 'a', '[a]('.repeat(10_000), '*a '.repeat(10_000)]
  for (const text of hostile) {
    const started = performance.now()
    parseMarkdown(text)
    expect(performance.now() - started).toBeLessThan(2000)
  }
})
