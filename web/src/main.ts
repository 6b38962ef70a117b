import { createApp } from 'vue'
import App from './App.vue'
import { i18n } from './i18n'
import { router } from './router'
import { applyLanguage } from './i18n/language'
import { copyWholeNames } from './ui/copiedNames'
import { applyTheme } from './ui/theme'
import { installWholeText } from './ui/wholeText'
import { startLive } from './live/status'
import './ui/styles/tokens.css'
import './ui/styles/base.css'
import './ui/styles/icons.css'
import './ui/styles/app.css'

applyTheme()
applyLanguage()
startLive()
installWholeText()
copyWholeNames()
createApp(App).use(i18n).use(router).mount('#app')
