// The user's presets.

import { ownTexts } from '@/ui/ownTexts'

export const { all: ownPresets, keep: keepPreset, drop: dropPreset } = ownTexts('configurationPresets')
