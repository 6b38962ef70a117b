// Markdown as elements. Nothing of the text becomes HTML; see model/markdown.ts.

import { h, type FunctionalComponent, type VNodeChild } from 'vue'
import { RouterLink } from 'vue-router'
import './markdown.css'
import { parseInline, parseMarkdown, type Block, type Inline } from './model/markdown'

/** `inline` renders text without paragraphs. */
const MarkdownText: FunctionalComponent<{ text: string; inline?: boolean }> = ({ text, inline }) =>
  inline ? parseInline(text).map(inlineNode) : h('div', { class: 'md' }, parseMarkdown(text).map(blockNode))
MarkdownText.props = { text: { type: String, required: true }, inline: Boolean }
export default MarkdownText

function blockNode(block: Block): VNodeChild {
  switch (block.kind) {
    case 'heading':
      return h('h3', block.of.map(inlineNode))
    case 'paragraph':
      return h('p', block.of.map(inlineNode))
    case 'code':
      // It scrolls sideways, so the keyboard must reach it.
      return h('pre', { tabindex: 0 }, h('code', block.text))
    case 'list':
      return h(
        block.ordered ? 'ol' : 'ul',
        block.items.map((item) => h('li', item.map(inlineNode)))
      )
    case 'quote':
      return h('blockquote', block.of.map(blockNode))
    case 'table':
      return h('div', { class: 'tbl', tabindex: 0 }, [
        h('table', [
          h(
            'thead',
            h(
              'tr',
              block.head.map((cell) => h('th', { scope: 'col' }, cell.map(inlineNode)))
            )
          ),
          h(
            'tbody',
            block.rows.map((row) =>
              h(
                'tr',
                row.map((cell) => h('td', cell.map(inlineNode)))
              )
            )
          ),
        ]),
      ])
  }
}

function inlineNode(node: Inline): VNodeChild {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'code':
      return h('code', node.text)
    case 'strong':
      return h('strong', node.of.map(inlineNode))
    case 'emphasis':
      return h('em', node.of.map(inlineNode))
    case 'link':
      return node.to.startsWith('/')
        ? h(RouterLink, { to: node.to, class: 'link' }, () => node.of.map(inlineNode))
        : h(
            'a',
            { href: node.to, class: 'link', target: '_blank', rel: 'noopener noreferrer' },
            node.of.map(inlineNode)
          )
  }
}
