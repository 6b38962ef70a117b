import { createApp } from 'vue'
import App from './App.vue'
import { i18n } from './i18n'
import { router } from './router'
import { applyPreferences } from './stores/preferences'
import { startLive } from './stores/status'
import './styles/tokens.css'
import './styles/base.css'
import './styles/icons.css'
import './styles/app.css'

applyPreferences()
startLive()
createApp(App).use(i18n).use(router).mount('#app')
