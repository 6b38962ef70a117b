// The menu of import, export, reset and replay, and the simulator's running operation.

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
      reset: 'Delete everything and return to the initial cluster',
      replay: 'Replay what happened in a real cluster',
    },
    asking: 'Checking what the server supports',
    notServed: 'This server does not support this.',
    notOurs: 'This simulator does not own the control plane, so it cannot empty it.',
    busy: 'Wait until this finishes: {what}',
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
    importIssues: 'Imported, {n} rejected',
    show: 'Show the import',
  },
  sync: {
    connecting: 'connecting to {source}',
    live: 'following {source}',
    stale: '{source} not responding',
    lastChange: 'Last change {time}',
    objects: '{n} objects | {n} object | {n} objects',
  },
}
