// Builds the script and the style sheet of reports: one file each, which the server puts into every
// report together with the decision.

import { mergeConfig } from 'vite'
import application from './vite.config'

export default mergeConfig(application, {
  publicDir: false,
  build: {
    outDir: 'dist/report',
    emptyOutDir: true,
    cssCodeSplit: false,
    rolldownOptions: {
      input: 'src/report.ts',
      output: { entryFileNames: 'report.js', assetFileNames: 'report[extname]', codeSplitting: false },
    },
  },
})
