// Sets theme and language before the first paint; src/ui/theme.ts and src/i18n/language.ts take over.
// It is a separate file so that a content security policy need not allow inline scripts.
;(function () {
  var root = document.documentElement
  var read = function (key) {
    try {
      return localStorage.getItem(key)
    } catch (e) {
      return null
    }
  }
  var theme = read('theme')
  if (theme !== 'light' && theme !== 'dark')
    theme = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
  root.dataset.theme = theme
  var language = read('language') || (navigator.language.indexOf('ja') === 0 ? 'ja' : 'en')
  root.lang = language === 'ja' ? 'ja' : 'en'
})()
