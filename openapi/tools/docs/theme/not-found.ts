import { withBase } from 'vitepress';
import { defineComponent, h } from 'vue';

/** The page for an unknown address. */
export const NotFound = defineComponent({
  name: 'NotFound',
  setup: () => () =>
    h('main', { class: 'not-found' }, [
      h('p', { class: 'status' }, '404'),
      h('h1', 'Page not found'),
      h('p', 'The documentation has no page at this address. Search for it, or start from the overview.'),
      h('a', { class: 'button', href: withBase('/docs/') }, 'Documentation'),
    ]),
});
