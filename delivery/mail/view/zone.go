package view

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Zone says in which zone a time is, for people: "hora de Montevideo, UTC−3",
// "Montevideo time, UTC−3". The city is the one that the zone database names
// t's zone after, as the reader's language writes it; a zone that is named after
// none ("UTC", "Local", a fixed offset) is its offset alone, "UTC−3" or "UTC".
func (l Locale) Zone(t time.Time) string {
	city := l.city(t.Location().String())
	if city == "" {
		return offset(t)
	}
	return fmt.Sprintf(nearest(l, zonePhrases), city) + ", " + offset(t)
}

// offset writes how far t's zone is from UTC at t, with the minutes and seconds
// that there are: "UTC−3", "UTC+5:30", "UTC".
func offset(t time.Time) string {
	_, seconds := t.Zone()
	sign := "+"
	switch {
	case seconds == 0:
		return "UTC"
	case seconds < 0:
		sign, seconds = "−", -seconds
	}
	text := fmt.Sprintf("UTC%s%d", sign, seconds/3600)
	if seconds%3600 != 0 {
		text += fmt.Sprintf(":%02d", seconds/60%60)
	}
	if seconds%60 != 0 {
		text += fmt.Sprintf(":%02d", seconds%60)
	}
	return text
}

// city returns the city that a zone of the database is named after, or "".
func (l Locale) city(zone string) string {
	match := cityZone.FindStringSubmatch(zone)
	if match == nil {
		return ""
	}
	for _, tag := range l.lineage() {
		if city, ok := cities[tag][match[1]]; ok {
			return city
		}
	}
	return strings.ReplaceAll(match[1], "_", " ")
}

// cityZone matches the database's zones that are named after an area and a
// city, perhaps with a country or state between them.
var cityZone = regexp.MustCompile(`^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific)` +
	`/(?:[A-Za-z_-]+/)?([A-Za-z_-]+)$`)

// zonePhrases are the CLDR's region formats of zones, as they stand in a
// sentence.
var zonePhrases = map[string]string{
	"en":    "%s time",
	"es":    "hora de %s",
	"pt":    "horário de %s",
	"pt-PT": "hora de %s",
}

// cities are the CLDR's exemplar cities (release 48, timeZoneNames), by the last
// part of the zone's name, where that part is not how the language writes the
// city: those of the Americas, Europe, the Atlantic and wherever else people
// speak Spanish or Portuguese.
//
//nolint:misspell // Spanish and Portuguese names
var cities = map[string]map[string]string{
	"en": {
		"Araguaina": "Araguaína", "Asuncion": "Asunción", "Bahia_Banderas": "Bahía de Banderas", "Belem": "Belém",
		"Beulah": "Beulah, North Dakota", "Bogota": "Bogotá", "Busingen": "Büsingen", "Canary": "Canaries",
		"Cancun": "Cancún", "Center": "Center, North Dakota", "Chisinau": "Chișinău",
		"Ciudad_Juarez": "Ciudad Juárez", "Cordoba": "Córdoba", "Cuiaba": "Cuiabá", "Curacao": "Curaçao",
		"Easter": "Easter Island", "Eirunepe": "Eirunepé", "El_Aaiun": "El Aaiún", "Faeroe": "Faroes",
		"Faroe": "Faroes", "Galapagos": "Galápagos Islands", "Kiev": "Kyiv", "Knox": "Knox, Indiana",
		"Lower_Princes": "Lower Prince’s Quarter", "Macau": "Macao", "Maceio": "Maceió",
		"Marengo": "Marengo, Indiana", "Mazatlan": "Mazatlán", "Merida": "Mérida", "Miquelon": "Saint-Pierre",
		"Monticello": "Monticello, Kentucky", "New_Salem": "New Salem, North Dakota",
		"Noronha": "Fernando de Noronha", "Petersburg": "Petersburg, Indiana", "Rio_Gallegos": "Río Gallegos",
		"Santarem": "Santarém", "Sao_Paulo": "São Paulo", "Sao_Tome": "São Tomé", "Scoresbysund": "Ittoqqortoormiit",
		"St_Barthelemy": "St. Barthélemy", "St_Helena": "St. Helena", "St_Johns": "St. John’s",
		"St_Kitts": "St. Kitts", "St_Lucia": "St. Lucia", "St_Thomas": "St. Thomas", "St_Vincent": "St. Vincent",
		"Tell_City": "Tell City, Indiana", "Tirane": "Tirana", "Tucuman": "Tucumán", "Vevay": "Vevay, Indiana",
		"Vincennes": "Vincennes, Indiana", "Winamac": "Winamac, Indiana",
	},
	"es": {
		"Amsterdam": "Ámsterdam", "Anguilla": "Anguila", "Araguaina": "Araguaína", "Astrakhan": "Astracán",
		"Asuncion": "Asunción", "Athens": "Atenas", "Bahia": "Bahía", "Bahia_Banderas": "Bahía de Banderas",
		"Belem": "Belén", "Belgrade": "Belgrado", "Belize": "Belice", "Berlin": "Berlín", "Bermuda": "Bermudas",
		"Beulah": "Beulah, Dakota del Norte", "Bissau": "Bisáu", "Bogota": "Bogotá", "Brussels": "Bruselas",
		"Bucharest": "Bucarest", "Busingen": "Büsingen", "Canary": "Canarias", "Cancun": "Cancún",
		"Cape_Verde": "Cabo Verde", "Cayenne": "Cayena", "Cayman": "Caimán", "Center": "Center, Dakota del Norte",
		"Chisinau": "Chisináu", "Ciudad_Juarez": "Ciudad Juárez", "Copenhagen": "Copenhague", "Cordoba": "Córdoba",
		"Cuiaba": "Cuiabá", "Curacao": "Curazao", "Dublin": "Dublín", "Easter": "Isla de Pascua",
		"Eirunepe": "Eirunepé", "El_Aaiun": "El Aaiún", "Faeroe": "Islas Feroe", "Faroe": "Islas Feroe",
		"Galapagos": "Galápagos", "Grand_Turk": "Gran Turca", "Grenada": "Granada", "Guadeloupe": "Guadalupe",
		"Guernsey": "Guernesey", "Havana": "La Habana", "Honolulu": "Honolulú", "Indianapolis": "Indianápolis",
		"Isle_of_Man": "Isla de Man", "Istanbul": "Estambul", "Kaliningrad": "Kaliningrado", "Kirov": "Kírov",
		"Knox": "Knox, Indiana", "Kyiv": "Kiev", "Lisbon": "Lisboa", "Ljubljana": "Liubliana", "London": "Londres",
		"Los_Angeles": "Los Ángeles", "Lower_Princes": "Lower Prince’s Quarter", "Luxembourg": "Luxemburgo",
		"Macau": "Macao", "Maceio": "Maceió", "Manaus": "Manaos", "Marengo": "Marengo, Indiana",
		"Martinique": "Martinica", "Mazatlan": "Mazatlán", "Merida": "Mérida", "Mexico_City": "Ciudad de México",
		"Miquelon": "Miquelón", "Monaco": "Mónaco", "Monticello": "Monticello, Kentucky", "Moscow": "Moscú",
		"New_Salem": "New Salem, Dakota del Norte", "New_York": "Nueva York", "Noronha": "Fernando de Noronha",
		"Panama": "Panamá", "Paris": "París", "Petersburg": "Petersburg, Indiana",
		"Port-au-Prince": "Puerto Príncipe", "Port_of_Spain": "Puerto España", "Prague": "Praga",
		"Reykjavik": "Reikiavik", "Rio_Branco": "Río Branco", "Rio_Gallegos": "Río Gallegos", "Rome": "Roma",
		"Santarem": "Santarém", "Santiago": "Santiago de Chile", "Sao_Paulo": "São Paulo", "Sao_Tome": "Santo Tomé",
		"Saratov": "Sarátov", "Scoresbysund": "Ittoqqortoormiit", "Simferopol": "Simferópol", "Skopje": "Skopie",
		"Sofia": "Sofía", "South_Georgia": "Georgia del Sur", "St_Barthelemy": "San Bartolomé",
		"St_Helena": "Santa Elena", "St_Johns": "San Juan de Terranova", "St_Kitts": "San Cristóbal",
		"St_Lucia": "Santa Lucía", "St_Thomas": "St. Thomas", "St_Vincent": "San Vicente", "Stockholm": "Estocolmo",
		"Tallinn": "Tallin", "Tell_City": "Tell City, Indiana", "Tirane": "Tirana", "Tortola": "Tórtola",
		"Tucuman": "Tucumán", "Ulyanovsk": "Uliánovsk", "Vatican": "El Vaticano", "Vevay": "Vevay, Indiana",
		"Vienna": "Viena", "Vilnius": "Vilna", "Vincennes": "Vincennes, Indiana", "Volgograd": "Volgogrado",
		"Warsaw": "Varsovia", "Winamac": "Winamac, Indiana", "Zurich": "Zúrich",
	},
	"es-419": {
		"Canary": "Islas Canarias", "Fort_Nelson": "Fuerte Nelson", "Guernsey": "Guernsey", "Nassau": "Nasáu",
		"Santiago": "Santiago", "St_Thomas": "Santo Tomás",
	},
	"pt": {
		"Amsterdam": "Amsterdã", "Anguilla": "Anguila", "Antigua": "Antígua", "Araguaina": "Araguaína",
		"Astrakhan": "Astracã", "Asuncion": "Assunção", "Athens": "Atenas", "Azores": "Açores",
		"Bahia_Banderas": "Bahia de Banderas", "Belem": "Belém", "Belgrade": "Belgrado", "Berlin": "Berlim",
		"Bermuda": "Bermudas", "Beulah": "Beulah, Dakota do Norte", "Bogota": "Bogotá", "Brussels": "Bruxelas",
		"Bucharest": "Bucareste", "Budapest": "Budapeste", "Busingen": "Büsingen", "Canary": "Canárias",
		"Cancun": "Cancún", "Cape_Verde": "Cabo Verde", "Cayenne": "Caiena", "Center": "Center, Dakota do Norte",
		"Chisinau": "Chișinău", "Ciudad_Juarez": "Ciudad Juárez", "Copenhagen": "Copenhague", "Cordoba": "Córdoba",
		"Coyhaique": "Coihaique", "Cuiaba": "Cuiabá", "Curacao": "Curaçao", "Easter": "Ilha de Páscoa",
		"Eirunepe": "Eirunepé", "El_Aaiun": "El Aaiún", "Faeroe": "Ilhas Faroé", "Faroe": "Ilhas Faroé",
		"Galapagos": "Galápagos", "Grenada": "Granada", "Guadeloupe": "Guadalupe", "Guayaquil": "Guaiaquil",
		"Guyana": "Guiana", "Helsinki": "Helsinque", "Indianapolis": "Indianápolis", "Isle_of_Man": "Ilha de Man",
		"Istanbul": "Istambul", "Kaliningrad": "Kaliningrado", "Knox": "Knox, Indiana", "Kyiv": "Kiev",
		"Lisbon": "Lisboa", "Ljubljana": "Liubliana", "London": "Londres", "Lower_Princes": "Lower Prince’s Quarter",
		"Luxembourg": "Luxemburgo", "Maceio": "Maceió", "Madrid": "Madri", "Managua": "Manágua",
		"Marengo": "Marengo, Indiana", "Martinique": "Martinica", "Mazatlan": "Mazatlán", "Merida": "Mérida",
		"Mexico_City": "Cidade do México", "Miquelon": "Saint-Pierre", "Monaco": "Mônaco",
		"Montevideo": "Montevidéu", "Monticello": "Monticello, Kentucky", "Moscow": "Moscou",
		"New_Salem": "New Salen, Dakota do Norte", "New_York": "Nova York", "Noronha": "Fernando de Noronha",
		"Panama": "Panamá", "Petersburg": "Petersburg, Indiana", "Port-au-Prince": "Porto Príncipe",
		"Prague": "Praga", "Puerto_Rico": "Porto Rico", "Reykjavik": "Reykjavík", "Rio_Gallegos": "Río Gallegos",
		"Rome": "Roma", "Santarem": "Santarém", "Sao_Paulo": "São Paulo", "Sao_Tome": "São Tomé",
		"Scoresbysund": "Ittoqqortoormiit", "Sofia": "Sófia", "South_Georgia": "Geórgia do Sul",
		"St_Barthelemy": "São Bartolomeu", "St_Helena": "Santa Helena", "St_Johns": "Saint John’s",
		"St_Kitts": "São Cristóvão", "St_Lucia": "Santa Lúcia", "St_Thomas": "Saint Thomas",
		"St_Vincent": "São Vicente", "Stockholm": "Estocolmo", "Tell_City": "Tell City, Indiana", "Tirane": "Tirana",
		"Tucuman": "Tucumã", "Ulyanovsk": "Ulianovsk", "Vatican": "Vaticano", "Vevay": "Vevay, Indiana",
		"Vienna": "Viena", "Vincennes": "Vincennes, Indiana", "Volgograd": "Volgogrado", "Warsaw": "Varsóvia",
		"Winamac": "Winamac, Indiana", "Zurich": "Zurique",
	},
	"pt-PT": {
		"Amsterdam": "Amesterdão", "Bahia": "Baía", "Bahia_Banderas": "Bahia Banderas", "Cancun": "Cancun",
		"Cayman": "Caimão", "Copenhagen": "Copenhaga", "Curacao": "Curaçau", "Dominica": "Domínica",
		"Easter": "Ilha da Páscoa", "El_Salvador": "Salvador", "Faeroe": "Faroé", "Faroe": "Faroé",
		"Galapagos": "Ilhas Galápagos", "Helsinki": "Helsínquia", "Kaliningrad": "Caliningrado", "Madrid": "Madrid",
		"Monaco": "Mónaco", "Montevideo": "Montevideu", "Montserrat": "Monserrate", "Moscow": "Moscovo",
		"New_York": "Nova Iorque", "Port-au-Prince": "Port-au-Prince", "Port_of_Spain": "Porto de Espanha",
		"Reykjavik": "Reiquiavique", "San_Marino": "São Marinho", "St_Johns": "St. John’s",
		"St_Thomas": "St. Thomas", "Tallinn": "Talim", "Tucuman": "Tucumán",
	},
}
