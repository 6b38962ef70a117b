import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import vue from '@vitejs/plugin-vue'
import { configDefaults, defineConfig } from 'vitest/config'

// `npm run dev` proxies to a simulator that runs elsewhere.
const target = process.env.SIMULATOR_URL ?? 'http://127.0.0.1:1212'
const proxied = { target, ws: true, changeOrigin: true, headers: { origin: target } }

// vi.mock replaces a module for all files that share its registry, so a file that calls it
// gets a registry of its own, which takes four times as long. mockFunctions needs none.
const mocking = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((path) => `src/${path}`)
  .filter((path) => path.endsWith('.test.ts') && readFileSync(path, 'utf8').includes('vi.mock('))

export default defineConfig({
  plugins: [vue()],
  define: {
    __VUE_OPTIONS_API__: false,
    __VUE_I18N_LEGACY_API__: false,
    __VUE_I18N_FULL_INSTALL__: true,
    __INTLIFY_PROD_DEVTOOLS__: false,
  },
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  // dist/.gitkeep is committed, so that the Go package compiles without a build.
  build: {
    target: 'es2022',
    outDir: 'dist',
    emptyOutDir: true,
    sourcemap: false,
    chunkSizeWarningLimit: 700,
    // A browser loads every part while it is idle. With one file for each feature and one for all
    // styles it makes 30 requests. By
    // default, modules that parts share have files of their own: 230 requests, which cost a second
    // of processor time.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'index', tags: ['$initial'], priority: 2 },
            {
              name: 'editor',
              test: /node_modules.(@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname|yaml)[\\/]/,
              priority: 1,
            },
            // Not with their feature, whose code would load with the words.
            { name: 'words', test: /src.features.[a-z]+.words/, priority: 1 },
            { name: (file: string) => /src.features.([a-z]+)/.exec(file)?.[1] ?? null, debugName: 'features' },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': proxied, '/kubernetes': proxied, '^/branches/[^/]+/(api|kubernetes)/': proxied } },
  test: {
    environment: 'happy-dom',
    // Threads take a tenth less than processes. By default, Vitest leaves one of two processors idle.
    pool: 'threads',
    maxWorkers: '100%',
    // Go is compiled beside them, on as few processors.
    testTimeout: 30_000,
    setupFiles: ['src/ui/unmount.setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['src/**/*.test.ts', 'lint/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...mocking],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: mocking } },
    ],
  },
})
