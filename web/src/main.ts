import { createApp } from 'vue'
import App from './App.vue'
import { i18n } from './i18n'
import { router } from './router'
import { applyLanguage } from './i18n/language'
import { applyTheme } from './stores/theme'
import { startLive } from './stores/status'
import './styles/tokens.css'
import './styles/base.css'
import './styles/icons.css'
import './styles/app.css'

applyTheme()
applyLanguage()
startLive()
createApp(App).use(i18n).use(router).mount('#app')
