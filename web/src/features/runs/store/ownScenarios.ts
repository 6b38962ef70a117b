// The scenarios that the user saved.

import { ownTexts } from '@/ui/ownTexts'

export const ownScenarios = ownTexts('scenarios')
