import { withBase } from 'vitepress';
import { defineComponent, h, ref } from 'vue';

/** Where the search of the site stores its text. */
const searchText = 'vitepress:local-search-filter';

/** Opens the search of the site with a text. */
function search(text: string): void {
  sessionStorage.setItem(searchText, text);
  document.querySelector<HTMLElement>('.VPNavBarSearch button')?.click();
}

/** The page for an unknown address. */
export const NotFound = defineComponent({
  name: 'NotFound',
  setup() {
    const text = ref('');
    return () =>
      h('main', { class: 'not-found' }, [
        h('p', { class: 'status' }, '404'),
        h('h1', 'Page not found'),
        h('p', 'There is no page at this address. Search the documentation, or start from an overview.'),
        h(
          'form',
          {
            role: 'search',
            onSubmit: (event: Event) => {
              event.preventDefault();
              search(text.value);
            },
          },
          [
            h('input', {
              type: 'search',
              'aria-label': 'Search the documentation',
              placeholder: 'Search the documentation',
              onInput: (event: Event) => (text.value = (event.target as HTMLInputElement).value),
            }),
            h('button', { class: 'button', type: 'submit' }, 'Search'),
          ],
        ),
        h('p', { class: 'overviews' }, [
          h('a', { href: withBase('/docs/') }, 'Documentation'),
          ' · ',
          h('a', { href: withBase('/console'), target: '_self' }, 'Console'),
        ]),
      ]);
  },
});
