// The dialogs of import, export and reset.

export const importing = {
  import: {
    title: 'Import a cluster',
    what: 'What to import',
    drop: 'Drop files, a folder or an archive here',
    dropBody:
      'YAML or JSON, kubectl output, an export of this or of the existing simulator, .zip, .tar, .gz. ' +
      'The type is detected from the content.',
    files: 'Choose files',
    folder: 'Choose a folder',
    paste: 'Paste text',
    pasteLabel: 'Manifests as YAML or JSON',
    chosen: '{n} files, {size} | {n} file, {size} | {n} files, {size}',
    remove: 'Remove {name}',
    removeAll: 'Remove all',
    moreFiles: 'and {n} more files',
    unreadable: 'Could not read {name}: {message}',
    holds: 'Contents',
    looking: 'Reading the contents',
    holdsArchive: 'An archive: the server will read its contents.',
    holdsLarge: 'Too large to preview here: the server will read it.',
    holdsNothing: 'No objects recognized here. The server will report what it finds.',
    configuration: 'scheduler configuration',
    results: '{n} decisions, not imported | {n} decision, not imported | {n} decisions, not imported',
    problems:
      '{n} documents could not be read here | {n} document could not be read here | {n} documents could not be read here',
    where: 'Where',
    workspace: 'In a new workspace',
    workspaceBody: 'It gets a cluster and a scheduler of its own. Nothing changes here.',
    merge: 'Merge into this cluster',
    mergeBody:
      'Adds the objects in the file. An existing object with the same kind and name is changed to match the file. Everything else stays.',
    replace: 'Replace this cluster',
    replaceBody:
      'Empties the simulator first: {nodes}, {pods} and every decision will be deleted. This cannot be undone.',
    reschedule: 'Reschedule pods',
    rescheduleBody:
      'Checked: all pods are imported without their nodes, and this scheduler places them. Unchecked: ' +
      'pods that have a node in the file keep it, and only the others are scheduled.',
    byDefault: 'Use Kubernetes’ default configuration',
    byDefaultBody:
      'Checked: Kubernetes’ default is applied first, as a new revision, and places the pods. ' +
      'Unchecked: revision {n} of the scheduler configuration places them: {summary}.',
    byDefaultThere:
      'Checked: Kubernetes’ default places the pods. ' +
      'Unchecked: the workspace gets revision {n} of this scheduler configuration: {summary}.',
    noSummary: 'no summary',
    placedByDefault: 'Kubernetes’ default scheduler configuration will place the pods.',
    placedByFile: 'The scheduler configuration of the file will place the pods.',
    start: 'Import',
    startReplace: 'Empty and import',
    recording: 'This is a recording',
    recordingBody:
      'A recording is replayed, not imported: an empty cluster takes the recorded changes, at the speed you choose.',
    load: 'Load the recording',
    loadRecording: 'Empty and load the recording',
    last: 'The last import was at {time}.',
    lastShow: 'Show summary',
    phase: {
      opening: 'Start the workspace',
      uploading: 'Send',
      reading: 'Read',
      clearing: 'Empty',
      applying: 'Create',
      settling: 'Settle',
    },
    phaseNow: {
      opening: 'The workspace is starting',
      uploading: 'Sending the files',
      reading: 'Reading',
      clearing: 'Emptying the simulator',
      applying: 'Creating {kind}',
      settling: 'Waiting for the controllers and the scheduler to catch up',
    },
    phaseObjects: 'objects',
    ofBytes: '{done} of {total}',
    ofCount: '{done} of {total}',
    goesOn: 'The import continues if you close this dialog or leave the page.',
    thenOpens: 'The workspace opens when it has read everything. If you stop, it is deleted.',
    stop: 'Stop the import',
    stopped: 'The import was stopped',
    stoppedBody: 'Objects that were already created stay.',
    failedTitle: 'The import failed',
    again: 'Choose something else',
    done: 'Imported {n} objects in {time} | Imported {n} object in {time} | Imported {n} objects in {time}',
    doneBut:
      'Imported {n} objects in {time}; {failed} rejected | Imported {n} object in {time}; {failed} rejected | ' +
      'Imported {n} objects in {time}; {failed} rejected',
    nothing: 'Nothing was imported',
    counts: 'Objects by kind',
    colKind: 'Kind',
    colCreated: 'Created',
    colUpdated: 'Changed',
    colUnchanged: 'Unchanged',
    colFailed: 'Rejected',
    colSkipped: 'Skipped',
    total: 'All',
    deleted: '{n} objects were deleted first. | {n} object was deleted first. | {n} objects were deleted first.',
    concern: { failed: 'Rejected {n}', inactive: 'Inactive {n}', skipped: 'Skipped {n}', warnings: 'Warnings {n}' },
    concerns: 'Not imported as is',
    allWell: 'Every object was imported as is.',
    none: {
      failed: 'Nothing was rejected.',
      inactive: 'Nothing is inactive.',
      skipped: 'Nothing was skipped.',
      warnings: 'No warnings.',
    },
    filter: 'Filter by kind, name, message or source',
    noMatch: 'Nothing matches “{text}”.',
    firstOf: 'Showing the first {n} of {total}.',
    colName: 'Name',
    colMessage: 'Message',
    colSource: 'Source',
    copy: 'Copy as text',
    copied: 'Copied {n} lines | Copied {n} line | Copied {n} lines',
    copyFailed: 'The browser did not allow copying',
    config: 'Scheduler configuration',
    configApplied: 'Running as revision {n}.',
    configNotApplied: 'Not applied.',
    configRemoved: 'Fields left out',
    configInactive: 'Inactive extenders',
    another: 'Import something else',
    answer: { pods: 'Compare with the original cluster', lacks: 'What the file lacks' },
  },
  inactive: {
    title: 'Inactive parts of imports',
    about:
      'These parts would call other programs: ' +
      'webhooks, aggregated APIs, conversions of custom resources, and extenders. ' +
      'Nothing calls those programs until you activate the parts. Activate only what you trust.',
    list: 'Inactive parts',
    calls: 'would call {calls}',
    activate: 'Activate',
    activateOne: 'Activate {kind} {name}',
    activateAll: 'Activate all',
    none: 'Nothing is inactive any more.',
    failed: 'Not everything was activated',
  },
  export: {
    title: 'Export the cluster',
    about:
      'One file with every object created here and the scheduler configuration. You can import it again or apply it with kubectl.',
    format: 'Format',
    results: 'Include decisions',
    resultsHint:
      'Every recorded scheduling decision, for use elsewhere. The file becomes much larger, and an import skips them.',
    redact: 'Redact names',
    redactHint:
      'Replaces names, labels and images with unreadable words, so that you can share the file. ' +
      'Each name is always replaced by the same word.',
    download: 'Download {name}',
    same: 'From the command line',
    copy: 'Copy the command',
    secrets: 'The file never contains Secrets.',
    tokenHint: 'TOKEN_FILE is the token file that this server was started with.',
  },
  reset: {
    title: 'Reset the simulator?',
    goes: 'This will be deleted',
    nodes: 'nodes | node | nodes',
    pods: 'pods | pod | pods',
    decisions: 'decisions | decision | decisions',
    revisions: 'applied configurations | applied configuration | applied configurations',
    others: 'and everything else that was created: workloads, volumes, classes, namespaces.',
    back: 'The scheduler returns to the configuration that it started with. This cannot be undone.',
    exportFirst: 'Export first',
    type: 'Type {word} to continue',
    word: 'reset',
    action: 'Reset',
    going: 'Resetting',
    done:
      'The simulator has been reset: {n} objects deleted in {time} | ' +
      'The simulator has been reset: {n} object deleted in {time} | ' +
      'The simulator has been reset: {n} objects deleted in {time}',
  },
}
