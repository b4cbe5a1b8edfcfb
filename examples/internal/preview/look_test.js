// What is wrong with how the document in a window looks, as a list of sentences.
window => {
  const { document, innerWidth } = window;
  const styleOf = element => window.getComputedStyle(element);
  const faults = [];
  const parse = color => {
    const n = color.match(/[\d.]+/g).map(Number);
    return { rgb: n.slice(0, 3), alpha: n.length > 3 ? n[3] : 1 };
  };
  const over = (front, back) => front.rgb.map((c, i) => c * front.alpha + back[i] * (1 - front.alpha));
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches && styleOf(document.documentElement).colorScheme.includes("dark");
  const background = element => {
    if (!element) return dark ? [18, 18, 18] : [255, 255, 255];
    const own = parse(styleOf(element).backgroundColor);
    return own.alpha === 1 ? own.rgb : over(own, background(element.parentElement));
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const shown = element => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const look = (element, text, rects) => {
    const visible = rects.filter(r => r.width > 1 && r.height > 1 && r.right > 0);
    if (visible.length === 0 || styleOf(element).clipPath !== "none") return false;
    const back = background(element);
    const ratio = contrast(over(parse(styleOf(element).color), back), back);
    if (ratio < 4.5) faults.push(`contrast ${ratio.toFixed(2)}: ${text}`);
    const scrolled = element.closest(".scroll");
    const edge = Math.min(innerWidth, ...[element.closest(".card")].filter(Boolean).map(c => c.getBoundingClientRect().right));
    if (!scrolled && visible.some(r => r.right > edge + 0.5 || r.left < -0.5)) faults.push(`cut off: ${text}`);
    return true;
  };

  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const text = node.data.trim();
    if (!text || !shown(node.parentElement)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (look(node.parentElement, text, [...range.getClientRects()])) texts++;
  }
  if (texts < 3) faults.push(`only ${texts} texts are visible`);
  for (const image of document.images) {
    if (!image.naturalWidth) look(image, "image: " + image.alt, [image.getBoundingClientRect()]);
    if (!image.naturalWidth && !image.alt) faults.push("an image without a text");
  }
  const seen = (element, what) => {
    const r = element?.getBoundingClientRect();
    if (!element || !shown(element) || !element.innerText.trim() || r.width < 20 || r.height < 10 || r.left < 0 || r.right > innerWidth) faults.push(`${what} is not visible`);
  };
  const overflow = document.documentElement.scrollWidth - innerWidth;
  if (overflow > 0) faults.push(`${overflow} pixels too wide`);
  seen(document.querySelector("h1"), "h1");
  for (const button of document.querySelectorAll(".button a")) seen(button, "a button");
  return faults;
}
