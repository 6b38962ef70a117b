// A name that a user gives a branch, and what is wrong with it.

import { computed, ref, type ComputedRef, type Ref } from 'vue'
import { useI18n } from 'vue-i18n'
import { branches } from '@/features/branch/store/branches'
import { isBranchName } from './model/branchName'

export function useBranchName(first: string): { name: Ref<string>; problem: ComputedRef<string> } {
  const { t } = useI18n()
  const name = ref(first)
  const taken = computed(() => branches.value?.some((branch) => branch.name === name.value) ?? false)
  return {
    name,
    problem: computed(() =>
      taken.value ? t('timeline.branch.taken') : isBranchName(name.value) ? '' : t('timeline.branch.invalid')
    ),
  }
}
