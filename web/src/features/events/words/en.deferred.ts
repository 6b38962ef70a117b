// The Events page.

export const events = {
  events: {
    filter: 'Filter events',
    noMatch: 'Nothing matches these filters.',
    colType: 'Type',
    colEvent: 'Reason',
    colObject: 'Object',
    colMessage: 'Message',
    colCount: 'Count',
    none: 'No events yet',
    noneBody: 'Kubernetes keeps events for one hour. New events appear here as they happen.',
  },
}
