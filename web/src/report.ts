// The script of a report: one decision in an HTML file that opens without a server. The server's
// package report puts this script, its style sheet and the decision into one file.

import { createApp } from 'vue'
import { createRouter, createWebHashHistory, RouterView } from 'vue-router'
import { contentId, readReport } from './features/report/model/report'
import ReportApp from './features/report/ReportApp.vue'
import { i18n } from './i18n'
import { loadDeferredMessages } from './i18n/deferred'
import { applyLanguage } from './i18n/language'
import { baseComponents } from './ui/base'
import { copyWholeNames } from './ui/copiedNames'
import { applyTheme } from './ui/theme'
import { installWholeText } from './ui/wholeText'
import './ui/styles/tokens.css'
import './ui/styles/base.css'
import './ui/styles/icons.css'
import './ui/styles/app.css'

const content = document.getElementById(contentId)
const text = content?.textContent ?? ''

/** In hexadecimal; '' where the browser has no cryptography, as in a sandbox without an origin. */
async function sha256(of: string): Promise<string> {
  if (!('subtle' in crypto)) return ''
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(of)))
  return Array.from(sum, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

applyTheme()
applyLanguage()
installWholeText()
copyWholeNames()
const [report, sum] = await Promise.all([readReport(text), sha256(text), loadDeferredMessages()])
// The selection lives in the query, as on the live page. Nothing else has an address.
const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    {
      path: '/:rest(.*)*',
      component: ReportApp,
      props: { report, sum, stated: content?.dataset.sha256 ?? '', size: document.documentElement.outerHTML.length },
    },
  ],
})
createApp(RouterView).use(i18n).use(router).use(baseComponents).mount('#app')
