// Fills in a form of examples/form in a browser and clicks twice, goes back and sends it again. Prints where it ended.
const { createRequire } = require("node:module")
const path = require("node:path")

const packages = createRequire(path.join(process.env.COLA_IA_NODE_PACKAGES, "package.json"))
const puppeteer = packages("puppeteer-core")

async function main(site) {
  const browser = await puppeteer.launch({
    executablePath: process.env.COLA_IA_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  })
  try {
    const page = await browser.newPage()
    await page.goto(site)
    // By what they are, since their names are in the page's language.
    await page.type("input[autocomplete=name]", "Ana")
    await page.type("input[type=email]", "ana@example.org")
    await page.type("textarea", "Hola, ¿qué tal?")
    const arrived = page.waitForNavigation()
    // The second click comes before the first answer.
    await page.click("button", { count: 2 })
    await arrived
    await page.goBack()
    const again = page.waitForNavigation()
    await page.click("button")
    await again
    console.log(page.url())
  } finally {
    await browser.close()
  }
}

main(process.argv[2]).catch((error) => {
  console.error(error)
  process.exit(1)
})
