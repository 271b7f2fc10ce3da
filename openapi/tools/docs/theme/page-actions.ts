import { useData, withBase } from 'vitepress';
import { computed, defineComponent, h, ref } from 'vue';

const confirmationMs = 2000;

/** Links to the page as Markdown, and copies it. */
export const PageActions = defineComponent({
  name: 'PageActions',
  setup() {
    const { page, frontmatter } = useData();
    const source = computed(() => withBase(`/${page.value.relativePath}`));
    const state = ref('Copy as Markdown');
    const copy = async () => {
      try {
        const response = await fetch(source.value);
        if (!response.ok) throw new Error(`status ${response.status}`);
        await navigator.clipboard.writeText(await response.text());
        state.value = 'Copied';
      } catch {
        state.value = 'Copying failed';
      }
      setTimeout(() => (state.value = 'Copy as Markdown'), confirmationMs);
    };
    return () =>
      page.value.isNotFound || frontmatter.value.actions === false
        ? null
        : h('nav', { class: 'page-actions', 'aria-label': 'This page as Markdown' }, [
            h('button', { type: 'button', onClick: copy, 'aria-live': 'polite' }, state.value),
            h('a', { href: source.value, target: '_self' }, 'View as Markdown'),
          ]);
  },
});
