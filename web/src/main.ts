import { createApp } from 'vue'
import App from './App.vue'
import { i18n } from './i18n'
import { router } from './router'
import { applyLanguage } from './i18n/language'
import { baseComponents } from './ui/base'
import { copyWholeNames } from './ui/copiedNames'
import { applyTheme } from './ui/theme'
import { installWholeText } from './ui/wholeText'
import { branchServed } from './features/branch/store/ownBranch'
import { startLive } from './live/status'
import './ui/styles/tokens.css'
import './ui/styles/base.css'
import './ui/styles/icons.css'
import './ui/styles/app.css'

applyTheme()
applyLanguage()
startLive(branchServed)
installWholeText()
copyWholeNames()
createApp(App).use(i18n).use(router).use(baseComponents).mount('#app')
