import { computed, effect, signal } from '@preact/signals';

type Theme = 'auto' | 'light' | 'dark';

/** Also used by the documentation, so that both have the same theme. */
const storageKey = 'vitepress-theme-appearance';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const isSystemDark = signal(systemIsDark.matches);
systemIsDark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches;
});

const stored = localStorage.getItem(storageKey);
const choice = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'auto');

/** Whether the page is dark now. */
export const isDark = computed(() =>
  choice.value === 'auto' ? isSystemDark.value : choice.value === 'dark',
);

effect(() => {
  document.documentElement.classList.toggle('dark', isDark.value);
});

/** Selects the other theme and stores the choice. */
export function toggleTheme(): void {
  choice.value = isDark.peek() ? 'light' : 'dark';
  localStorage.setItem(storageKey, choice.value);
}
