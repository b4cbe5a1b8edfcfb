// What is marked data-live is fetched again every two seconds while somebody
// looks, and replaced only when it changed, so that the focus stays.
const live = document.querySelector('[data-live]');
async function refresh() {
  if (document.hidden) return;
  const response = await fetch(location.href);
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.getElementById(live.id);
  if (!fresh || fresh.innerHTML === live.innerHTML) return;
  const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  live.innerHTML = fresh.innerHTML;
  if (focused) live.querySelector('a[href="' + CSS.escape(focused) + '"]')?.focus();
}
if (live) setInterval(() => refresh().catch(() => {}), 2000);
