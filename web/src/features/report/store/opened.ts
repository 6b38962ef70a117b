// The file of the report that the page shows.

import { shallowRef } from 'vue'

export const opened = shallowRef<File>()

/** Whether a file may be a report. Only reading it tells. */
export const mayBeReport = (file: File): boolean => /\.html?$/i.test(file.name)
