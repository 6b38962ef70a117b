// The menu of import, export, reset and replay, and what the simulator is at meanwhile.

export const transfer = {
  transfer: {
    title: 'Import / export',
    more: 'More',
    export: 'Export the cluster',
    import: 'Import a cluster',
    reset: 'Reset',
    replay: 'Replay a recording',
    hint: {
      export: 'Every object and the configuration, as one file',
      import: 'Manifests, an export, a whole folder or archive',
      reset: 'Back to an empty cluster, as at the start',
      replay: 'What happened in a real cluster, once more',
    },
    asking: 'Asking the server',
    notServed: 'This server does not offer it.',
    notOurs: 'The control plane belongs to somebody else: it is not emptied from here.',
    busy: 'Wait until this is over: {what}',
    dropHere: 'Drop to import',
  },
  operation: {
    import: 'Importing',
    reset: 'Resetting',
    replay: 'Replaying',
    sync: 'Following a cluster',
    uploading: 'Sending {percent}',
    of: '{done} of {total}',
    imported: 'Imported',
    importFailed: 'Import failed',
    importIssues: 'Imported, {n} refused',
    show: 'Show the import',
  },
  sync: {
    connecting: 'connecting to {source}',
    live: 'follows {source}',
    stale: '{source} not heard',
    lastChange: 'Last change {time}',
    objects: '{n} objects | {n} object | {n} objects',
  },
}
